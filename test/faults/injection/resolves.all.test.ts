import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../../contract/api-document.ts';
import { sendRequest } from '../../support/request.ts';
import type { Failure } from './fault-injector.ts';
import { type InjectedService, startInjectedService } from './injected-service.ts';

let service: InjectedService;
/** The path of a link that is resolved already, and its answer, by flow. */
const resolved = new Map<string, { readonly path: string; readonly answer: string }>();
beforeAll(async () => {
  service = await startInjectedService();
  // A start that a busy machine delays would take the time for the first link.
  await service.resolver.warm();
  for (const [name, { createPath }] of Object.entries(FLOWS)) {
    const path = createPath();
    const answer = await answerTo(path);
    expect(answer).toMatch(/\btitle\b/);
    resolved.set(name, { path, answer });
  }
});

const resolve = (link: string) => `/api/Fetch/GetResource?url=${encodeURIComponent(link)}`;
/** A link to a host of its own, which the service has not resolved. */
const newFile = (path: string) => service.renameHost(service.origin.url(path));
let items = 0;
/** A link to an item of the test site of its own. */
const newItem = (path: string) => {
  items += 1;
  // Of one length: titles are in tags, whose size is stated.
  return service.origin.url(path.replace('{id}', `item${String(items).padStart(4, '0')}`));
};

interface Flow {
  /** The path of a request that resolves what was not resolved before. */
  readonly createPath: () => string;
  /** Whether an entry that fails is listed without its renditions. */
  readonly isList?: boolean;
  /** @default all */
  readonly failures?: readonly Failure[];
}

const FLOWS: Readonly<Record<string, Flow>> = {
  'a file': { createPath: () => resolve(newFile('/files/clip.mp4')) },
  'an HLS playlist': { createPath: () => resolve(newFile('/hls/muxed.m3u8')) },
  'an item of a site': { createPath: () => resolve(newItem('/site/open/{id}')) },
  'a list': { createPath: () => resolve(newItem('/site/list/{id}?n=2')), isList: true },
  // It resolves as the list does.
  'a feed': {
    createPath: () => `/api/Feed?url=${encodeURIComponent(newItem('/site/list/{id}?n=1'))}`,
    isList: true,
    failures: ['fails'],
  },
};
const FAILURES: readonly Failure[] = ['fails', 'fails from then on', 'client leaves'];

/** What a request is answered with, without what differs from link to link. */
async function answerTo(path: string): Promise<string> {
  try {
    const { status, body } = await sendRequest(service.baseUrl + path);
    const text = body.toString();
    if (status === 200) return text.replaceAll(/host-\d+|item\d+|[\w-]{33,36}/g, '');
    expectProblem(status, JSON.parse(text));
    return String(status);
  } catch (error) {
    return `no answer: ${(error as Error).message}`;
  }
}

/** Entries in an answer, with or without renditions: GetResource's, or those of RSS. */
const entriesOf = (text: string): number => text.match(/"requestedUrl"|<item>/g)?.length ?? 0;

describe.each(Object.entries(FLOWS))('%s', (name, { createPath, isList, failures = FAILURES }) => {
  it.each(failures)('when each effect in turn %s', async (failure) => {
    const { path: known, answer: right } = resolved.get(name) ?? expect.fail(name);
    await service.failEachEffect(failure, {
      prepare: createPath,
      request: answerTo,
      right,
      check: async (answer, _effect, where) => {
        const isPart = isList && entriesOf(answer) === entriesOf(right);
        const failed = failure === 'client leaves' ? 'no answer: other side closed' : '502';
        if (answer !== right && !isPart) expect(answer, where).toBe(failed);
        expect(await answerTo(known), `after ${where}`).toBe(right);
      },
    });
  });
});

describe('a process that does not start', () => {
  // Each in the three ways in which a start fails.
  it.each([
    ['yt-dlp', 1],
    ['the parsers', 2],
  ])('of %s affects one link, and further ones resolve', async (_name, at) => {
    const { createPath } = FLOWS['a file'] ?? expect.fail();
    const { answer: right } = resolved.get('a file') ?? expect.fail();
    for (let way = 0; way < 3; way++) {
      // Again where a process answers before it ends, or its end is reported after the answer: none starts then.
      const answers: string[] = [];
      const failed = async () => {
        service.arm(at, 'fails', /^start of a process$/);
        await service.kill();
        answers.push(await answerTo(createPath()));
        return service.disarm();
      };
      await expect.poll(failed).toBeDefined();
      // What could not be read is resolved again soon.
      for (const answer of answers) expect(answer).toMatch(/^502$|"title":"clip"/);
      // After a failed start yt-dlp waits before the next one.
      await expect.poll(() => answerTo(createPath()), { interval: 200 }).toBe(right);
    }
  });
});
