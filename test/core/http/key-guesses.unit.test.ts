import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyGuesses, createOriginSecretCheck } from '../../../core/http/access-secrets.ts';
import { clientOf } from '../../../core/http/client.ts';

const hashOf = (key: unknown) => createHash('sha256').update(String(key)).digest('hex');
const CLIENT = clientOf('192.0.2.1');
const MAX_WRONG_KEYS = 10;

function create() {
  let time = 1_000_000;
  const guesses = createKeyGuesses(() => time);
  return {
    ...guesses,
    /** Sends so many wrong keys. @returns how many were compared */
    guess(client: string, count: number, prefix = ''): number {
      const hashes = Array.from({ length: count }, (_, index) => hashOf(`${client} ${prefix} ${index}`));
      return hashes.filter((hash) => {
        if (guesses.waitSeconds(client, hash) > 0) return false;
        guesses.reject(client, hash);
        return true;
      }).length;
    },
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

describe('createKeyGuesses', () => {
  it('compares ten different wrong keys of a client in a minute', () => {
    const { guess, waitSeconds, pass } = create();
    expect(guess(CLIENT, 50)).toBe(MAX_WRONG_KEYS);
    expect(waitSeconds(CLIENT, hashOf('another'))).toBe(60);
    pass(59_001);
    expect(waitSeconds(CLIENT, hashOf('another'))).toBe(1);
    pass(999);
    expect(guess(CLIENT, 50, 'next')).toBe(MAX_WRONG_KEYS);
  });

  it('leaves other clients alone', () => {
    const { guess, waitSeconds } = create();
    guess(CLIENT, 50);
    expect(waitSeconds(clientOf('192.0.2.2'), hashOf('right'))).toBe(0);
  });

  it('counts a key once that is sent again and again', () => {
    const { reject, guess, waitSeconds } = create();
    const outdated = hashOf('outdated');
    for (let count = 0; count < 100; count++) {
      expect(waitSeconds(CLIENT, outdated)).toBe(0);
      reject(CLIENT, outdated);
    }
    expect(guess(CLIENT, 50)).toBe(MAX_WRONG_KEYS - 1);
    expect(waitSeconds(CLIENT, outdated)).toBe(0);
  });

  it('compares a key that gave the client access, but not for others', () => {
    const { accept, guess, waitSeconds } = create();
    const right = hashOf('right');
    accept(CLIENT, right);
    for (const client of [CLIENT, clientOf('192.0.2.2')]) guess(client, 50);
    expect(waitSeconds(CLIENT, right)).toBe(0);
    expect(waitSeconds(clientOf('192.0.2.2'), right)).toBeGreaterThan(0);
  });

  it('compares forty wrong keys of an IPv6 network', () => {
    const { guess } = create();
    const compared = Array.from({ length: 256 }, (_, index) =>
      guess(clientOf(`2001:db8:1:${index.toString(16)}00::1`), 50),
    );
    expect(compared.reduce((sum, count) => sum + count)).toBe(4 * MAX_WRONG_KEYS);
    expect(guess(clientOf('2001:db8:2::1'), 50)).toBe(MAX_WRONG_KEYS);
  });

  it('counts IPv4 clients each alone, however many there are', () => {
    const { guess } = create();
    const counts = Array.from({ length: 60 }, (_, index) => guess(clientOf(`192.0.2.${index}`), 20));
    expect(new Set(counts)).toEqual(new Set([MAX_WRONG_KEYS]));
  });
});

describe('createOriginSecretCheck', () => {
  /** A check of a table whose secrets change with `stored`, and how often it was read. */
  function createCheck(...secrets: string[]) {
    const table = { stored: secrets, reads: 0, time: 1_000_000 };
    const readAccepted = async () => {
      table.reads += 1;
      return table.stored;
    };
    return { table, check: createOriginSecretCheck(readAccepted, () => table.time) };
  }

  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [['', 'a'], ['a']],
    [[], []],
  ])('accepts of %j each secret alone', async (secrets, accepted) => {
    const { check } = createCheck(...secrets);
    const received = ['a', 'b', 'a,b', 'c', '', undefined];
    const answers = await Promise.all(received.map(check));
    expect(received.filter((_, index) => answers[index])).toEqual(accepted);
  });

  it('refuses no request of the edge during a rotation, before and behind it', async () => {
    const { table, check } = createCheck('one');
    for (const secrets of [
      ['two', 'one'],
      ['three', 'two'],
      ['two', 'three'],
    ]) {
      const former = table.stored[0];
      expect(await check(former)).toBe(true);
      table.time += 1_000;
      table.stored = secrets;
      for (const secret of [former, secrets[0], former, secrets[1], secrets[0]]) expect(await check(secret)).toBe(true);
    }
  });

  it('refuses a secret that is accepted no longer within a minute, also where it is the only one that is sent', async () => {
    const { table, check } = createCheck('leaked');
    expect(await check('leaked')).toBe(true);
    table.stored = ['three', 'two'];
    table.time += 60_000;
    expect(await check('leaked')).toBe(false);
  });

  it('reads the secrets once a minute, and once a second for requests with unknown ones', async () => {
    const { table, check } = createCheck('one');
    for (let request = 0; request < 10; request++) {
      await check('one');
      await check('guess');
      await check(undefined);
    }
    expect(table.reads).toBe(1);
    table.time += 59_999;
    await check('one');
    expect(table.reads).toBe(1);
    for (const _ of [1, 2, 3]) expect(await check('guess')).toBe(false);
    expect(table.reads).toBe(2);
  });

  it('knows the secrets of one table only', async () => {
    const [one, two] = [createCheck('one'), createCheck('two')];
    expect([await one.check('one'), await one.check('two')]).toEqual([true, false]);
    expect([await two.check('one'), await two.check('two')]).toEqual([false, true]);
  });

  it('throws while the secrets cannot be read, and reads them again', async () => {
    let isUp = false;
    const check = createOriginSecretCheck(async () => {
      if (!isUp) throw new Error('The table does not respond');
      return ['one'];
    });
    await expect(check('one')).rejects.toThrow('The table does not respond');
    isUp = true;
    expect(await check('one')).toBe(true);
  });
});
