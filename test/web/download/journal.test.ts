import { describe, expect, it } from 'vitest';
import { createJournal } from '../../../web/src/download/journal.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

const RECORD = { id: 'a', url: 'https://r.example/api/Stream/Media/K', fileName: 'a.mp4' };

/** Locks of one browser, shared by its pages. */
function createLocks() {
  const held = new Set<string>();
  const request = async (name: string, _: unknown, act: (lock: object | null) => unknown) => {
    const isFree = !held.has(name);
    held.add(name);
    return act(isFree ? {} : null);
  };
  return { request } as unknown as LockManager;
}

describe('createJournal', () => {
  it('hands the records of a closed page to the next one', async () => {
    const storage = createMemoryStore();
    createJournal(storage, createLocks()).put(RECORD);
    const next = createJournal(storage, createLocks());
    expect(await next.claim()).toEqual([RECORD]);
    expect(await next.claim()).toEqual([]);
    next.delete('a');
    expect(await createJournal(storage, createLocks()).claim()).toEqual([]);
  });

  it('does not hand out the records of a page that is open', async () => {
    const storage = createMemoryStore();
    const locks = createLocks();
    createJournal(storage, locks).put(RECORD);
    const other = createJournal(storage, locks);
    expect(await other.claim()).toEqual([]);
    expect([...other.ids()]).toEqual(['a']);
  });

  it('keeps the records of other pages when it writes its own', () => {
    const storage = createMemoryStore();
    const [one, two] = [createJournal(storage, createLocks()), createJournal(storage, createLocks())];
    one.put(RECORD);
    two.put({ ...RECORD, id: 'b' });
    two.put({ ...RECORD, id: 'b', isPaused: true });
    two.delete('absent');
    expect([...one.ids()]).toEqual(['a', 'b']);
  });

  it.each(['not json', '{}', 'null', '[1,null,{"id":1}]', '[{"id":"a","fileName":"x","url":"javascript:alert(1)"}]'])(
    'ignores invalid stored data %s',
    async (text) => {
      const storage = createMemoryStore();
      storage.setItem('reelay.downloads', text);
      expect(await createJournal(storage, createLocks()).claim()).toEqual([]);
    },
  );

  it('works without storage', async () => {
    const journal = createJournal(undefined, createLocks());
    journal.put(RECORD);
    expect(await journal.claim()).toEqual([]);
  });
});
