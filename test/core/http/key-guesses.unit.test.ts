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
  it.each([
    ['a,b', ['a', 'b']],
    [',a,,', ['a']],
    ['', []],
  ])('accepts of %j each secret alone', (secrets, accepted) => {
    const check = createOriginSecretCheck(secrets);
    expect(['a', 'b', 'a,b', 'c', '', undefined].filter(check)).toEqual(accepted);
  });
});
