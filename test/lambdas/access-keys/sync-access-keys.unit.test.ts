import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { type KeyStore, removeAccessKeys, syncAccessKeys } from '../../../lambdas/access-keys.ts';

const [FIRST, SECOND] = ['first-key-0123456789', 'second-key-0123456789'];
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const idOf = (key: string) => hashOf(key).slice(0, 12);

/** A store in memory. Its first `conflicts` changes fail. */
function createFixture(present: Record<string, string> = {}, conflicts = 0) {
  const entries = new Map(Object.entries(present));
  let [changes, left] = [0, conflicts];
  const store: KeyStore = {
    entries: async () => new Map(entries),
    async change(puts, deletes) {
      changes += 1;
      left -= 1;
      if (left >= 0) throw new Error('ConflictException');
      for (const [id, hash] of puts) entries.set(id, hash);
      for (const id of deletes) entries.delete(id);
    },
  };
  const sync = (secret: string | undefined) =>
    syncAccessKeys({ readSecret: async () => secret, store, log: silentLog });
  return { entries, sync, store, changes: () => changes };
}

describe('syncAccessKeys', () => {
  it('writes the hashes of keys on lines and between commas', async () => {
    const { entries, sync, changes } = createFixture();
    expect(await sync(`${FIRST},\n  ${SECOND}\n`)).toEqual({ keys: 2, added: 2, removed: 0 });
    expect(Object.fromEntries(entries)).toEqual({ [idOf(FIRST)]: hashOf(FIRST), [idOf(SECOND)]: hashOf(SECOND) });
    expect(await sync(`${SECOND} ${FIRST}`)).toEqual({ keys: 2, added: 0, removed: 0 });
    expect(changes()).toBe(1);
  });

  it('removes keys that are no longer in the secret', async () => {
    const { entries, sync } = createFixture({ [idOf(FIRST)]: hashOf(FIRST), [idOf(SECOND)]: 'damaged' });
    expect(await sync(SECOND)).toEqual({ keys: 1, added: 1, removed: 1 });
    expect(Object.fromEntries(entries)).toEqual({ [idOf(SECOND)]: hashOf(SECOND) });
  });

  it('tries again when another process changes the store', async () => {
    const { entries, sync } = createFixture({}, 2);
    expect(await sync(FIRST)).toMatchObject({ added: 1 });
    expect(entries.size).toBe(1);
    await expect(createFixture({}, 3).sync(FIRST)).rejects.toThrow('ConflictException');
  });

  it.each([undefined, '', ' \n', 'short', `${FIRST}\n${FIRST}`, `${FIRST},schlüssel-mit-umlaut`])(
    'refuses the secret %j, and leaves the store as it is',
    async (secret) => {
      const { sync, changes } = createFixture({ [idOf(FIRST)]: hashOf(FIRST) });
      const refused = sync(secret);
      await expect(refused).rejects.toThrow(/^accessKeysSecret: key \d/);
      await expect(refused).rejects.not.toThrow(/short|first-key|umlaut/);
      expect(changes()).toBe(0);
    },
  );
});

describe('removeAccessKeys', () => {
  it.each([0, 2])('empties the store, also when %d changes of others come first', async (conflicts) => {
    const { entries, store } = createFixture({ a: 'b', c: 'd' }, conflicts);
    await removeAccessKeys({ store });
    expect(entries.size).toBe(0);
  });
});
