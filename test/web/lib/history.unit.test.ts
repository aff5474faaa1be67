import { describe, expect, it } from 'vitest';
import { createHistory } from '../../../web/src/history.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

const entry = (number: number) => ({
  link: `https://a.example/${number}`,
  title: `Title ${number}`,
  author: null,
  coverUrl: 'https://a.example/cover.jpg',
});

describe('createHistory', () => {
  it('keeps each link once, newest first, up to the limit', () => {
    let now = 0;
    const history = createHistory({ storage: createMemoryStore(), limit: 3, now: () => now });
    for (const number of [1, 2, 3, 1, 4]) {
      now++;
      history.add(entry(number));
    }
    expect(history.entries.get().map(({ link, at }) => [link.at(-1), at])).toEqual([
      ['4', 5],
      ['1', 4],
      ['3', 3],
    ]);
  });

  it('keeps entries for 30 days', () => {
    const storage = createMemoryStore();
    const at = (days: number) => createHistory({ storage, now: () => days * 24 * 3600_000 });
    at(100).add(entry(1));
    at(110).add(entry(2));
    expect(at(129).entries.get()).toHaveLength(2);
    expect(at(131).entries.get()).toMatchObject([entry(2)]);
    at(131).add(entry(3));
    expect(storage.kept.get('reelay.history')).not.toContain(entry(1).link);
  });

  it('keeps the file that was downloaded last when a link is resolved again', () => {
    const storage = createMemoryStore();
    const fileUrl = 'https://b.example/api/Stream/Media/k';
    createHistory({ storage }).add(entry(1), { fileUrl, isList: true });
    createHistory({ storage }).add(entry(1));
    expect(createHistory({ storage }).entries.get()).toMatchObject([{ ...entry(1), fileUrl }]);
    createHistory({ storage }).add(entry(1), { fileUrl: `${fileUrl}2` });
    expect(createHistory({ storage }).entries.get()).toMatchObject([{ fileUrl: `${fileUrl}2` }]);
    createHistory({ storage }).add({ ...entry(2), link: null }, { fileUrl });
    expect(createHistory({ storage }).entries.get()).toHaveLength(1);
  });

  it('persists until cleared', () => {
    const storage = createMemoryStore();
    createHistory({ storage }).add(entry(1));
    const history = createHistory({ storage });
    expect(history.entries.get()).toMatchObject([entry(1)]);
    history.add(entry(2));
    history.remove(entry(1).link);
    expect(history.entries.get()).toMatchObject([entry(2)]);
    history.clear();
    expect(history.entries.get()).toEqual([]);
    expect(storage.kept.size).toBe(0);
  });

  it('merges entries of another tab, and does not restore those cleared there', () => {
    const storage = createMemoryStore();
    const [one, two] = [createHistory({ storage }), createHistory({ storage })];
    one.add(entry(1));
    two.add(entry(2));
    expect(two.entries.get()).toHaveLength(2);
    two.clear();
    one.add(entry(3));
    expect(one.entries.get()).toMatchObject([entry(3)]);
    expect(createHistory({ storage }).entries.get()).toHaveLength(1);
  });

  it.each(['reelay.history', null])('updates on a storage event with key %s', (key) => {
    const storage = createMemoryStore();
    const events = new EventTarget();
    const history = createHistory({ storage, events });
    const tell = (name: string | null) => events.dispatchEvent(Object.assign(new Event('storage'), { key: name }));
    createHistory({ storage }).add(entry(1));
    tell('another');
    expect(history.entries.get()).toEqual([]);
    tell(key);
    expect(history.entries.get()).toMatchObject([entry(1)]);
  });

  it('falls back to memory when storage is full', () => {
    const storage = createMemoryStore();
    const history = createHistory({ storage });
    history.add(entry(1));
    storage.setItem = () => {
      throw new DOMException('Full', 'QuotaExceededError');
    };
    history.add(entry(2));
    history.add(entry(3));
    expect(history.entries.get()).toHaveLength(3);
  });

  it('falls back to memory when storage is forbidden', () => {
    for (const storage of [undefined, createMemoryStore({}, true)]) {
      const history = createHistory({ storage });
      history.add(entry(1));
      history.add(entry(2));
      expect(history.entries.get()).toHaveLength(2);
      history.clear();
      expect(history.entries.get()).toEqual([]);
    }
  });

  it.each([
    'not json',
    '{}',
    'null',
    '[1,null,{"link":1}]',
    '[{"link":"javascript:alert(1)","at":1}]',
    '[{"link":"https://a.example/","at":"x"}]',
  ])('ignores invalid stored data %s', (text) => {
    expect(createHistory({ storage: createMemoryStore({ 'reelay.history': text }) }).entries.get()).toEqual([]);
  });
});
