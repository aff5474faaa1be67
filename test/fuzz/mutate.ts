/** A random number generator with a seed (xorshift32): a run can be repeated. */
export interface Random {
  /** An integer from 0 to `limit` − 1. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed | 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % Math.max(1, limit);
  };
  return { below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}

/** Integers at the limits of their types: counts and sizes of containers. */
const INTEGERS = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
/** Text that parsers treat in a particular way. */
export const TOKENS = [
  ...[
    '"',
    "'",
    ',',
    ';',
    '=',
    ':',
    '%',
    '@',
    '#',
    '?',
    '/',
    '\\',
    '{$',
    '}',
    '<',
    '>',
    '&',
    ' ',
    '\t',
    '\r\n',
    '\n',
    '\0',
  ],
  ...[
    '9'.repeat(20),
    '-1',
    '0',
    '1e309',
    '0x',
    '.',
    '..',
    'http://',
    'https://',
    '%00',
    '\ufeff',
    '\u202e',
    '\u00b9',
    '[]',
    '{}',
  ],
  ...[
    '<MPD ',
    'mediaPresentationDuration ',
    'URI="',
    '#EXTINF:   \n',
    'a\n',
    'NaN',
    'null',
    '[[[[',
    '((((',
    '__proto__',
  ],
];

/** Inputs beyond this many bytes are cut. */
const MAX_BYTES = 32 * 1024;

type Mutation = (input: Buffer, random: Random, other: Buffer) => Buffer;

const replace = (input: Buffer, at: number, removed: number, inserted: Buffer): Buffer =>
  Buffer.concat([input.subarray(0, at), inserted, input.subarray(at + removed)]);

const MUTATIONS: readonly Mutation[] = [
  function flipBit(input, random) {
    const copy = Buffer.from(input);
    const at = random.below(copy.length);
    if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function setByte(input, random) {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  function setInteger(input, random) {
    if (input.length < 4) return input;
    const copy = Buffer.from(input);
    copy.writeUInt32BE(random.pick(INTEGERS), random.below(copy.length - 3));
    return copy;
  },
  function remove(input, random) {
    return replace(input, random.below(input.length), random.below(16), Buffer.alloc(0));
  },
  function insertToken(input, random) {
    return replace(input, random.below(input.length + 1), random.below(3), Buffer.from(random.pick(TOKENS)));
  },
  /** Copies a part to another place, many times: loops within loops show. */
  function repeatPart(input, random) {
    const from = random.below(input.length);
    const part = input.subarray(from, from + 1 + random.below(40));
    const count = 1 + random.below(random.pick([2, 16, 256, 2048]));
    return replace(
      input,
      random.below(input.length + 1),
      0,
      Buffer.alloc(Math.min(part.length * count, MAX_BYTES), part),
    );
  },
  function splice(input, random, other) {
    return Buffer.concat([
      input.subarray(0, random.below(input.length + 1)),
      other.subarray(random.below(other.length)),
    ]);
  },
];

/** Another input, by one to eight mutations. @param other an input to take parts from */
export function mutate(input: Buffer, random: Random, other: Buffer): Buffer {
  let mutated = input;
  for (let count = 1 + random.below(8); count > 0; count -= 1) {
    mutated = random.pick(MUTATIONS)(mutated, random, other).subarray(0, MAX_BYTES);
  }
  return mutated;
}
