import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ItemTooLarge } from '../../../core/state/create-state.ts';
import { archiveKey, hasKey, linkId } from '../../../core/state/keys.ts';
import type { StoredItem } from '../../../core/state/storage.ts';
import { aTrack } from './resources.ts';
import { describeState, START } from './state-fixture.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const ENTRY = { url: 'https://media.example/1', title: 'One', author: null, coverUrl: null };

describeState('createState', (open) => {
  describe('resources', () => {
    it('are read as they were written', async () => {
      const { state, resource, read } = await open();
      await state.putResource(resource);
      expect(await read()).toEqual(resource);
      expect(await state.getResource('unknown')).toBeUndefined();
    });

    it('are absent once expired, before the table deletes them', async () => {
      const { state, clock, rawItem, resource, read } = await open();
      await state.putResource(resource);
      clock.now = resource.expiresAt - 1;
      expect(await read()).toBeDefined();
      clock.now = resource.expiresAt;
      expect(await read()).toBeUndefined();
      expect(await rawItem(`resource#${resource.id}`)).toHaveProperty('pk');
    });

    it('have the exact sizes that streams add, until they are replaced or expire', async () => {
      const { state, clock, resource, read } = await open();
      await state.putExactSize(resource, 'too-early', 1);
      expect(await read()).toBeUndefined();
      await state.putResource(resource);
      expect(await read()).not.toHaveProperty('exactSizes');
      const [first = '', second = ''] = ['a_Rendition-1', 'a_Rendition-2'];
      await state.putExactSize(resource, first, 5_000_000_001);
      await state.putExactSize(resource, second, 2);
      await state.putExactSize(resource, second, 3);
      const stored = await read();
      expect(stored).toEqual({ ...resource, exactSizes: { [first]: 5_000_000_001, [second]: 3 } });
      await state.putResource({ ...resource, exactSizes: { [first]: 4 } });
      expect((await read())?.exactSizes).toEqual({ [first]: 4 });
      clock.now = START + 2 * DAY;
      await state.putExactSize(resource, first, 9);
      expect(await read()).toBeUndefined();
    });

    it('are extended by a day when touched, once an hour', async () => {
      const { state, clock, resource, read } = await open();
      await state.putResource(resource);
      const expiryAfterUseAt = async (now: number) => {
        clock.now = now;
        await state.touchResource(resource);
        return (await read())?.expiresAt;
      };
      expect(await expiryAfterUseAt(START + HOUR - 1)).toBe(START + DAY);
      expect(await expiryAfterUseAt(START + HOUR)).toBe(START + HOUR + DAY);
      expect(await expiryAfterUseAt(START + HOUR + 1)).toBe(START + HOUR + DAY);
      expect(await expiryAfterUseAt(START + 2 * HOUR)).toBe(START + 2 * HOUR + DAY);
    });

    it('are neither restored nor overwritten when touched', async () => {
      const { state, clock, rawItem, resource, read } = await open();
      await state.touchResource({ ...resource, expiresAt: START });
      expect(await rawItem(`resource#${resource.id}`)).toEqual({});

      await state.putResource({ ...resource, title: 'newer' });
      clock.now = START + 2 * HOUR;
      await state.touchResource(resource);
      expect(await read()).toMatchObject({ title: 'newer', expiresAt: START + 2 * HOUR + DAY });

      clock.now = START + 3 * DAY;
      await state.touchResource(resource);
      expect(await read()).toBeUndefined();
    });

    it('include lists of archives, found by their key and extended when touched', async () => {
      const { state, clock } = await open();
      const url = 'https://media.example/list';
      const id = archiveKey(url);
      const entries = [{ ...ENTRY, resourceId: 'r' }];
      const list = { id, url, title: 'List', author: null, entries, expiresAt: START + DAY };
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

    it('include the progress of archives, for two minutes after it was written', async () => {
      const { state, clock } = await open();
      const building = { state: 'building' as const, total: 3, completed: 1, current: 'Ünïque', skipped: 0 };
      await state.putArchiveProgress('a.Job-1', building);
      expect(await state.getArchiveProgress('a.Job-1')).toEqual(building);
      expect(await state.getArchiveProgress('a.job-1')).toBeUndefined();
      clock.now = START + 119;
      await state.putArchiveProgress('a.Job-1', { ...building, state: 'done' });
      clock.now = START + 119 + 119;
      expect(await state.getArchiveProgress('a.Job-1')).toMatchObject({ state: 'done' });
      clock.now += 1;
      expect(await state.getArchiveProgress('a.Job-1')).toBeUndefined();
    });

    it('are stored without fragments above the size limit, with a warning', async () => {
      const { state, warnings, resource, read } = await open();
      const urls = Array.from({ length: 6000 }, () => randomBytes(64).toString('hex')).join('\n');
      const fragments = { urls, durations: [6000, 2_000_000] };
      const track = aTrack({ delivery: 'dash' });
      await state.putResource({ ...resource, tracks: [{ ...track, fragments }] });
      expect(await read()).toEqual({ ...resource, tracks: [track] });
      expect(warnings).toHaveLength(1);
    });

    it('are rejected when too large without fragments', async () => {
      const { state, resource } = await open();
      const title = randomBytes(400 * 1024).toString('base64');
      await expect(state.putResource({ ...resource, title })).rejects.toThrow(ItemTooLarge);
    });

    it.each([
      ['another version', { v: 2 }],
      ['no version', { v: null }],
      ['corrupt bytes', { data: Buffer.from('not brotli') }],
      ['no bytes', { data: 'text' }],
      ['an expiry that is no number', { expiresAt: 'soon' }],
      ['another id', { pk: 'resource#other' }, 'other'],
    ])('with %s are absent', async (_what, change, id?: string) => {
      const { state, storage, rawItem, resource } = await open();
      await state.putResource(resource);
      const item = await rawItem(`resource#${resource.id}`);
      await storage.put({ ...item, ...change } as StoredItem);
      expect(await state.getResource(id ?? resource.id)).toBeUndefined();
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

    it('can be stored again once they have been dropped', async () => {
      const { state } = await open();
      await state.putAttachment('a', 'cover', one);
      await state.dropAttachment('a', 'cover');
      await state.dropAttachment('a', 'places-1');
      expect(await state.getAttachment('a', 'cover')).toBeUndefined();
      expect(await state.getAttachment('a', 'places-1')).toBeUndefined();
      expect(await state.putAttachment('a', 'cover', other)).toEqual(other);
    });

    it('outlive the keys of their resource, and can be stored again once expired', async () => {
      const { state, clock, resource, read } = await open();
      await state.putResource(resource);
      await state.putAttachment(resource.id, 'cover', one);
      for (let hours = 23; hours < 24 * 10; hours += 23) {
        clock.now = START + hours * HOUR;
        await state.touchResource((await read()) ?? resource);
      }
      const { expiresAt = 0 } = (await read()) ?? {};
      clock.now = expiresAt;
      expect(await read()).toBeUndefined();
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
      const base = { id: linkId(url), url, freshUntil: START + HOUR, expiresAt: START + DAY };
      const link = { ...base, type: 'PlayList', title: null, author: null, coverUrl: null, entries: [ENTRY] } as const;
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

  describe('bytes of streams', () => {
    it('are summed over all writers, for each day by itself', async () => {
      const { state, clock } = await open();
      expect(await state.countStreamBytes()).toBe(0);
      expect(await state.addStreamBytes(5_000_000_000)).toBe(5_000_000_000);
      await Promise.all(Array.from({ length: 9 }, () => state.addStreamBytes(2)));
      expect(await state.addStreamBytes(0)).toBe(5_000_000_018);
      expect(await state.countStreamBytes()).toBe(5_000_000_018);
      clock.now += DAY;
      expect(await state.countStreamBytes()).toBe(0);
      expect(await state.addStreamBytes(3)).toBe(3);
    });
  });

  describe('record of the cost guard', () => {
    it('is empty until it is written', async () => {
      const { state } = await open();
      expect(await state.getCostGuard()).toEqual({});
      const revision = await state.putCostGuard({
        closedUntil: 5,
        streams: { since: 0, bytes: 7 },
        forgiven: undefined,
      });
      expect(await state.getCostGuard()).toEqual({ revision, closedUntil: 5, streams: { since: 0, bytes: 7 } });
      const next = await state.putCostGuard({ revision, closedUntil: 6 });
      expect(await state.putCostGuard({ revision, closedUntil: 7 })).toBeUndefined();
      expect(await state.getCostGuard()).toEqual({ revision: next, closedUntil: 6 });
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

  describe('requireSpace', () => {
    it('resolves while there is disk space', async () => {
      const { state } = await open();
      expect(await state.requireSpace()).toBeUndefined();
    });
  });
});
