import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { CapacityExceeded, NotDeliverable, NotFound, UpstreamError } from '../../../core/errors/index.ts';
import { silentLog } from '../../../core/log/index.ts';
import { type ClientFallbackOptions, createClientFallback } from '../../../core/resolve/client-fallback.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Outcome = (() => Error) | undefined;

const botCheck = (extractor: string) => () =>
  new NotDeliverable('bot', { reason: 'bot-check', cause: Object.assign(new Error(), { extractor }) });
const signIn = botCheck('youtube');
const isPrivate = () => new NotDeliverable('private', { reason: 'private' });
const gone = () => new NotFound('gone');
const broken = () => new UpstreamError('broken');
const full = () => new CapacityExceeded('full');

/** Extracts links, which fail as usual with `usual`, and as the other client with the outcomes in turn. Undefined is a success. */
function start(others: readonly Outcome[], options: Partial<ClientFallbackOptions> = {}, usual: Outcome = signIn) {
  const asked: string[] = [];
  let attempts = 0;
  const extract = createClientFallback(
    async ({ playerClient, identity }: { playerClient?: string; identity: string }) => {
      asked.push(`${playerClient ?? 'usual'} by ${identity}`);
      const outcome = playerClient === undefined ? usual : others[attempts++];
      if (outcome) throw outcome();
      return playerClient;
    },
    { youtubeFallbackClient: 'visionos', log: silentLog, ...options },
  );
  const ask = (identity = 'a', signal = new AbortController().signal) =>
    extract({ url: 'https://youtube.example/', identity, signal, deadline: Date.now() + 10_000 }).catch(
      ({ message }) => message,
    );
  /** The attempts as the other client. */
  return { ask, attempts: () => asked.filter((one) => !one.startsWith('usual')) };
}

describe('a video for which YouTube wants a sign-in', () => {
  it('is asked for as another client, each time while that succeeds', async () => {
    const { ask } = start([undefined, undefined]);
    expect([await ask(), await ask()]).toEqual(['visionos', 'visionos']);
  });

  it.each([
    ['wants a sign-in', signIn],
    ['is refused', () => new NotDeliverable('refused', { reason: 'refused' })],
    ['fails', broken],
  ])('is not asked for again within the hour by an address for which it then %s', async (_, failure) => {
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    const { ask, attempts } = start([failure, undefined, failure, undefined]);
    expect([await ask('a'), await ask('a'), await ask('b'), await ask('a')]).toEqual(['bot', 'bot', 'visionos', 'bot']);
    vi.setSystemTime(3_600_000 - 1);
    expect(await ask('a')).toBe('bot');
    vi.setSystemTime(3_600_000);
    expect([await ask('a'), await ask('a')]).toEqual(['bot', 'bot']);
    expect(attempts()).toEqual(['visionos by a', 'visionos by b', 'visionos by a']);
    vi.useRealTimers();
  });

  it.each([
    ['is private', isPrivate, 'private'],
    ['is gone', gone, 'gone'],
    ['finds no fork', full, 'bot'],
  ])('says nothing of the address when it %s', async (_, failure, message) => {
    const { ask } = start([failure, undefined]);
    expect([await ask(), await ask()]).toEqual([message, 'visionos']);
  });

  it('waits for the outcome of another link that is tried', async () => {
    const refused = start([signIn]);
    expect(await Promise.all([refused.ask(), refused.ask(), refused.ask()])).toEqual(['bot', 'bot', 'bot']);
    expect(refused.attempts()).toHaveLength(1);
    const served = start([]);
    expect(await Promise.all([served.ask(), served.ask(), served.ask()])).toEqual(Array(3).fill('visionos'));
  });

  it('is not held against the address when the caller leaves', async () => {
    const leaving = new AbortController();
    const leave = () => {
      leaving.abort();
      return new Error('left');
    };
    const { ask } = start([leave, undefined]);
    expect([await ask('a', leaving.signal), await ask('a')]).toEqual(['bot', 'visionos']);
  });

  it.each<[string, Partial<ClientFallbackOptions>]>([
    ['off', { youtubeFallbackClient: 'off' }],
    ['a client of the operator', { ytDlpExtractorArgs: ['youtube:skip=dash;player_client=web'] }],
    ['that client in the other spelling', { ytDlpExtractorArgs: ['youtube:player-client=web'] }],
  ])('is asked for as usual alone with %s', async (_, options) => {
    const { ask, attempts } = start([], options);
    expect([await ask(), attempts()]).toEqual(['bot', []]);
  });

  it.each([
    ['youtube.com', 'bot'],
    ['#HttpOnly_.youtube.com', 'bot'],
    ['.accounts.youtube.com', 'bot'],
    ['.notyoutube.com', 'visionos'],
    ['.example.org', 'visionos'],
  ])('with cookies of %s leads to %s', async (domain, outcome) => {
    const file = join(await temporaryFolder(), 'cookies.txt');
    await writeFile(file, `# Netscape HTTP Cookie File\n${domain}\tTRUE\t/\tTRUE\t0\tname\tvalue\n`);
    expect(await start([], { cookiesFile: file }).ask()).toBe(outcome);
    expect(await start([], { cookiesDir: [file] }).ask()).toBe(outcome);
  });
});

it.each([
  ['the bot check of another site', botCheck('vimeo'), 'bot'],
  ['another refusal', isPrivate, 'private'],
  ['a failure', broken, 'broken'],
])('%s is not asked for again', async (_, usual, message) => {
  const { ask, attempts } = start([], {}, usual);
  expect([await ask(), attempts()]).toEqual([message, []]);
});
