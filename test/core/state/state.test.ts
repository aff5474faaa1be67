import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createState } from '../../../core/state/create-state.ts';
import { ItemTooLarge } from '../../../core/state/item.ts';
import { archiveKey, hasKey, linkId } from '../../../core/state/keys.ts';
import type { State } from '../../../core/state/state.ts';
import type { StoredItem } from '../../../core/state/storage.ts';
import { aResource, aTrack } from './resources.ts';
import { STORAGES, type StorageFixture } from './storages.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const START = 1_800_000_000;

describe.each(Object.entries(STORAGES))('createState with %s', (_name, startStorage) => {
  let fixture: StorageFixture;
  beforeAll(async () => {
    fixture = await startStorage();
  });
  afterAll(() => fixture?.close());

  /** A state with its own table and a fake clock (epoch seconds). */
  async function open() {
    const clock = { now: START };
    const now = () => clock.now * 1000;
    const storage = await fixture.open(now);
    const warnings: string[] = [];
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (message: string) => void warnings.push(message),
    };
    const state: State = createState({ storage, now, log });
    const rawItem = async (pk: string): Promise<Partial<StoredItem>> => (await storage.get(pk)) ?? {};
    return { state, clock, storage, warnings, rawItem };
  }

  describe('resources', () => {
    it('are read as they were written', async () => {
      const { state } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      expect(await state.getResource(resource.id)).toEqual(resource);
      expect(await state.getResource('unknown')).toBeUndefined();
    });

    it('are absent once expired, before the table deletes them', async () => {
      const { state, clock, rawItem } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      clock.now = resource.expiresAt - 1;
      expect(await state.getResource(resource.id)).toBeDefined();
      clock.now = resource.expiresAt;
      expect(await state.getResource(resource.id)).toBeUndefined();
      expect(await rawItem(`resource#${resource.id}`)).toHaveProperty('pk');
    });

    it('have the exact sizes that streams add, until they are replaced or expire', async () => {
      const { state, clock } = await open();
      const resource = aResource(START);
      await state.putExactSize(resource, 'too-early', 1);
      expect(await state.getResource(resource.id)).toBeUndefined();
      await state.putResource(resource);
      expect(await state.getResource(resource.id)).not.toHaveProperty('exactSizes');
      const [first = '', second = ''] = ['a_Rendition-1', 'a_Rendition-2'];
      await state.putExactSize(resource, first, 5_000_000_001);
      await state.putExactSize(resource, second, 2);
      await state.putExactSize(resource, second, 3);
      const stored = await state.getResource(resource.id);
      expect(stored).toEqual({ ...resource, exactSizes: { [first]: 5_000_000_001, [second]: 3 } });
      await state.putResource({ ...resource, exactSizes: { [first]: 4 } });
      expect((await state.getResource(resource.id))?.exactSizes).toEqual({ [first]: 4 });
      clock.now = START + 2 * DAY;
      await state.putExactSize(resource, first, 9);
      expect(await state.getResource(resource.id)).toBeUndefined();
    });

    it('are extended by a day when touched, once an hour', async () => {
      const { state, clock } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      const expiryAfterUseAt = async (now: number) => {
        clock.now = now;
        await state.touchResource(resource);
        return (await state.getResource(resource.id))?.expiresAt;
      };
      expect(await expiryAfterUseAt(START + HOUR - 1)).toBe(START + DAY);
      expect(await expiryAfterUseAt(START + HOUR)).toBe(START + HOUR + DAY);
      expect(await expiryAfterUseAt(START + HOUR + 1)).toBe(START + HOUR + DAY);
      expect(await expiryAfterUseAt(START + 2 * HOUR)).toBe(START + 2 * HOUR + DAY);
    });

    it('are neither restored nor overwritten when touched', async () => {
      const { state, clock, rawItem } = await open();
      const resource = aResource(START);
      await state.touchResource({ ...resource, expiresAt: START });
      expect(await rawItem(`resource#${resource.id}`)).toEqual({});

      await state.putResource({ ...resource, title: 'newer' });
      clock.now = START + 2 * HOUR;
      await state.touchResource(resource);
      expect(await state.getResource(resource.id)).toMatchObject({ title: 'newer', expiresAt: START + 2 * HOUR + DAY });

      clock.now = START + 3 * DAY;
      await state.touchResource(resource);
      expect(await state.getResource(resource.id)).toBeUndefined();
    });

    it('include lists of archives, found by their key and extended when touched', async () => {
      const { state, clock } = await open();
      const id = archiveKey('https://media.example/list');
      const entry = { url: 'https://media.example/1', title: 'One', author: null, coverUrl: null, resourceId: 'r' };
      const list = {
        id,
        url: 'https://media.example/list',
        title: 'List',
        author: null,
        entries: [entry],
        expiresAt: START + DAY,
      };
      expect(await state.getArchivedList(id)).toBeUndefined();
      await state.putArchivedList(list);
      expect(await state.getArchivedList(id)).toEqual(list);
      expect(await state.getResource(id)).toBeUndefined();
      expect(await state.getArchivedList('no key')).toBeUndefined();
      expect(await hasKey(id, state)).toBe(true);
      expect(await hasKey(archiveKey('https://media.example/other'), state)).toBe(false);
      clock.now = START + 2 * HOUR;
      await state.touchArchivedList(list);
      expect((await state.getArchivedList(id))?.expiresAt).toBe(START + 2 * HOUR + DAY);
      clock.now = START + 3 * DAY;
      expect(await state.getArchivedList(id)).toBeUndefined();
    });

    it('are stored without fragments above the size limit, with a warning', async () => {
      const { state, warnings } = await open();
      const fragments = Array.from({ length: 6000 }, () => ({ url: randomBytes(64).toString('hex'), seconds: 2 }));
      const resource = aResource(START, { tracks: [aTrack({ delivery: 'dash', fragments })] });
      await state.putResource(resource);
      const { fragments: _, ...track } = aTrack({ delivery: 'dash', fragments });
      expect(await state.getResource(resource.id)).toEqual({ ...resource, tracks: [track] });
      expect(warnings).toHaveLength(1);
    });

    it('are rejected when too large without fragments', async () => {
      const { state } = await open();
      const resource = aResource(START, { title: randomBytes(400 * 1024).toString('base64') });
      await expect(state.putResource(resource)).rejects.toThrow(ItemTooLarge);
    });

    it.each([
      ['another version', { v: 2 }],
      ['no version', { v: null }],
      ['corrupt bytes', { data: Buffer.from('not brotli') }],
      ['no bytes', { data: 'text' }],
      ['an expiry that is no number', { expiresAt: 'soon' }],
    ])('with %s are absent', async (_what, change) => {
      const { state, storage, rawItem } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      const item = await rawItem(`resource#${resource.id}`);
      await storage.put({ ...item, ...change } as StoredItem);
      expect(await state.getResource(resource.id)).toBeUndefined();
    });

    it('with another id are absent', async () => {
      const { state, storage, rawItem } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      const item = await rawItem(`resource#${resource.id}`);
      await storage.put({ ...item, pk: 'resource#other' });
      expect(await state.getResource('other')).toBeUndefined();
    });
  });

  describe('covers', () => {
    const [one, other] = [Buffer.from([0xff, 0xd8, 1]), Buffer.from([0xff, 0xd8, 2])];

    it('are stored once: the first one counts', async () => {
      const { state } = await open();
      expect(await state.getAttachment('a', 'cover')).toBeUndefined();
      const stored = await Promise.all([one, other].map((jpeg) => state.putAttachment('a', 'cover', jpeg)));
      expect(stored[0]).toEqual(stored[1]);
      expect(await state.getAttachment('a', 'cover')).toEqual(stored[0]);
      expect(await state.putAttachment('b', 'cover', Buffer.alloc(0))).toHaveLength(0);
      expect(await state.putAttachment('b', 'cover', one)).toHaveLength(0);
      expect(await state.getAttachment('b', 'cover')).toHaveLength(0);
    });

    it('outlive the keys of their resource, and can be stored again once expired', async () => {
      const { state, clock } = await open();
      const resource = aResource(START);
      await state.putResource(resource);
      await state.putAttachment(resource.id, 'cover', one);
      for (let hours = 23; hours < 24 * 10; hours += 23) {
        clock.now = START + hours * HOUR;
        await state.touchResource((await state.getResource(resource.id)) ?? resource);
      }
      const { expiresAt = 0 } = (await state.getResource(resource.id)) ?? {};
      clock.now = expiresAt;
      expect(await state.getResource(resource.id)).toBeUndefined();
      expect(await state.getAttachment(resource.id, 'cover')).toEqual(one);
      clock.now = START + 30 * DAY;
      expect(await state.getAttachment(resource.id, 'cover')).toBeUndefined();
      expect(await state.putAttachment(resource.id, 'cover', other)).toEqual(other);
      expect(await state.getAttachment(resource.id, 'cover')).toEqual(other);
    });
  });

  describe('links', () => {
    it('are read as they were written, until they expire', async () => {
      const { state, clock } = await open();
      const url = 'https://media.example/list';
      const entry = { url: 'https://media.example/1', title: 'One', author: null, coverUrl: null };
      const base = { id: linkId(url), url, freshUntil: START + HOUR, expiresAt: START + DAY };
      const link = { ...base, type: 'PlayList', title: null, author: null, coverUrl: null, entries: [entry] } as const;
      await state.putLink(link);
      expect(await state.getLink(link.id)).toEqual(link);
      clock.now = START + DAY;
      expect(await state.getLink(link.id)).toBeUndefined();
    });
  });

  describe('request count', () => {
    it('starts at zero and counts concurrent requests', async () => {
      const { state } = await open();
      expect(await state.countRequests()).toBe(0);
      await Promise.all(Array.from({ length: 60 }, () => state.addRequest()));
      expect(await state.countRequests()).toBe(60);
    });
  });

  describe('tools record', () => {
    it('is absent before the first installation', async () => {
      const { state } = await open();
      expect(await state.getTools()).toBeUndefined();
      const record = {
        ytDlp: '2026.11.20',
        ffmpeg: '7.1',
        verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' },
        installedAt: START,
      };
      await state.putTools(record);
      expect(await state.getTools()).toEqual(record);
    });
  });

  describe('maintenance lease', () => {
    const lease = { activity: 'Downloading yt-dlp', owner: 'one', expiresAt: START + 60 };
    const other = { activity: 'Downloading FFmpeg', owner: 'two', expiresAt: START + 120 };

    it('is held by one owner, who can renew it', async () => {
      const { state } = await open();
      expect(await state.getMaintenance()).toBeUndefined();
      expect(await state.takeMaintenance(lease)).toBe(true);
      expect(await state.takeMaintenance(other)).toBe(false);
      expect(await state.takeMaintenance({ ...lease, activity: 'Downloading FFmpeg' })).toBe(true);
      expect(await state.getMaintenance()).toEqual({ ...lease, activity: 'Downloading FFmpeg' });
    });

    it('is granted to one of many concurrent owners', async () => {
      const { state } = await open();
      const owners = ['a', 'b', 'c', 'd', 'e'];
      const taken = await Promise.all(owners.map((owner) => state.takeMaintenance({ ...lease, owner })));
      expect(taken.filter(Boolean)).toHaveLength(1);
    });

    it('can be acquired once expired', async () => {
      const { state, clock } = await open();
      await state.takeMaintenance(lease);
      clock.now = lease.expiresAt;
      expect(await state.getMaintenance()).toBeUndefined();
      expect(await state.takeMaintenance(other)).toBe(true);
    });

    it('is released by its owner only', async () => {
      const { state } = await open();
      await state.takeMaintenance(lease);
      await state.endMaintenance('two');
      expect(await state.getMaintenance()).toEqual(lease);
      await state.endMaintenance('one');
      await state.endMaintenance('one');
      expect(await state.getMaintenance()).toBeUndefined();
    });
  });

  describe('stream task lease', () => {
    const lease = { owner: 'one', startedAt: START, expiresAt: START + 60 };

    it('is granted to one of many concurrent owners', async () => {
      const { state } = await open();
      const owners = ['a', 'b', 'c', 'd', 'e'];
      const taken = await Promise.all(owners.map((owner) => state.takeStreamTask({ ...lease, owner })));
      expect(taken.filter(Boolean)).toHaveLength(1);
    });

    it('stores the task, and is released by its owner only', async () => {
      const { state } = await open();
      const known = { ...lease, taskArn: 'arn:1' };
      expect(await state.takeStreamTask(lease)).toBe(true);
      expect(await state.takeStreamTask(known)).toBe(true);
      await state.endStreamTask('two');
      expect(await state.getStreamTask()).toEqual(known);
      await state.endStreamTask('one');
      expect(await state.getStreamTask()).toBeUndefined();
    });

    it('can be taken over from a failed owner, once', async () => {
      const { state } = await open();
      await state.takeStreamTask(lease);
      expect(await state.takeStreamTask({ ...lease, owner: 'two' })).toBe(false);
      const heirs = ['two', 'three', 'four'].map((owner) => state.takeStreamTask({ ...lease, owner }, 'one'));
      expect((await Promise.all(heirs)).filter(Boolean)).toHaveLength(1);
    });

    it('is absent once expired', async () => {
      const { state, clock } = await open();
      await state.takeStreamTask(lease);
      clock.now = lease.expiresAt;
      expect(await state.getStreamTask()).toBeUndefined();
      expect(await state.takeStreamTask({ ...lease, owner: 'two' })).toBe(true);
    });

    it('is independent of maintenance', async () => {
      const { state } = await open();
      await state.takeStreamTask(lease);
      expect(await state.getMaintenance()).toBeUndefined();
    });
  });

  describe('origin secret', () => {
    it('keeps the first candidate of a rotation', async () => {
      const { state, clock } = await open();
      const kept = await Promise.all(['a', 'b', 'c'].map((candidate) => state.rotateOriginSecret('one', candidate)));
      expect(new Set(kept.map(({ current }) => current)).size).toBe(1);
      clock.now += 1000 * DAY;
      expect(await state.rotateOriginSecret('one', 'd')).toEqual(kept[0]);
    });

    it('returns the current and the previous one after a rotation, and swaps them when it is undone', async () => {
      const { state } = await open();
      await state.rotateOriginSecret('one', 'a');
      expect(await state.rotateOriginSecret('two', 'b')).toEqual({ current: 'b', previous: 'a' });
      expect(await state.rotateOriginSecret('two', 'c')).toEqual({ current: 'b', previous: 'a' });
      expect(await state.rotateOriginSecret('one', 'd')).toEqual({ current: 'a', previous: 'b' });
      expect(await state.rotateOriginSecret('three', 'e')).toEqual({ current: 'e', previous: 'a' });
    });

    it('rotates once for concurrent calls', async () => {
      const { state } = await open();
      await state.rotateOriginSecret('one', 'a');
      const rotated = await Promise.all(['b', 'c'].map((candidate) => state.rotateOriginSecret('two', candidate)));
      expect(rotated[0]).toEqual(rotated[1]);
      expect(rotated[0]?.previous).toBe('a');
    });
  });

  describe('tools update lease', () => {
    it('is held by one owner until released or expired, and is no maintenance', async () => {
      const { state, clock } = await open();
      const take = (owner: string) => state.takeToolsUpdate({ owner, expiresAt: clock.now + 60 });
      expect(await take('one')).toBe(true);
      expect(await take('two')).toBe(false);
      expect(await take('one')).toBe(true);
      expect(await state.getMaintenance()).toBeUndefined();
      await state.endToolsUpdate('two');
      expect(await take('two')).toBe(false);
      await state.endToolsUpdate('one');
      expect(await take('two')).toBe(true);
      clock.now += 60;
      expect(await take('three')).toBe(true);
    });
  });

  describe('requireSpace', () => {
    it('resolves while there is disk space', async () => {
      const { state } = await open();
      expect(await state.requireSpace()).toBeUndefined();
    });
  });

  describe('putIf', () => {
    const item = { pk: 'lease', owner: 'one', expiresAt: START, note: { of: ['any', 1, null] } };

    it.each([
      ['no condition', {}, false],
      ['an expiry that has passed', { expiredAt: START }, true],
      ['an expiry to come', { expiredAt: START - 1 }, false],
      ['the owner', { owners: ['two', 'one'] }, true],
      ['other owners', { owners: ['two'] }, false],
      ['other owners and an expiry that has passed', { expiredAt: START, owners: ['two'] }, true],
    ])('with %s decides whether an item is replaced', async (_what, condition, replaces) => {
      const { storage } = await open();
      expect(await storage.putIf(item, condition)).toBe(true);
      expect(await storage.get('lease')).toEqual(item);
      const other = { pk: 'lease', owner: 'three', expiresAt: START + 1 };
      expect(await storage.putIf(other, condition)).toBe(replaces);
      expect(await storage.get('lease')).toEqual(replaces ? other : item);
    });

    it.each([{ expiredAt: START }, { owners: ['one'] }])(
      'keeps an item without expiry and owner (%j)',
      async (condition) => {
        const { storage } = await open();
        await storage.put({ pk: 'bare', kept: true });
        expect(await storage.putIf({ pk: 'bare' }, condition)).toBe(false);
        expect(await storage.get('bare')).toEqual({ pk: 'bare', kept: true });
      },
    );
  });
});
