import { describe, expect, it } from 'vitest';
import { describeState, START } from './state-fixture.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

describeState('leases and conditional writes', (open) => {
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
