import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { archiveKey, keyOf, type Rendition, type Resource } from '../../../core/state/index.ts';
import { sendRequest } from '../../support/request.ts';
import { outcomeOf } from '../outcome.ts';
import type { Failure } from './fault-injector.ts';
import { type InjectedService, startInjectedService } from './injected-service.ts';

const LINKS = {
  file: '/files/clip.mp4',
  hls: '/hls/ts/index.m3u8',
  encrypted: '/hls/aes/index.m3u8',
  site: '/site/open/1',
  detailed: '/site/small-detailed/1',
  sound: '/files/tone.m4a',
} as const;

let service: InjectedService;
let file: Buffer;
const resources = new Map<string, Resource>();
beforeAll(async () => {
  service = await startInjectedService();
  for (const [name, path] of Object.entries(LINKS)) {
    const resolved = await service.resolver.resolve(service.origin.url(path), { deadline: Date.now() + 150_000 });
    resources.set(name, resolved.type === 'Media' ? resolved.resource : expect.fail(`${path} is a list`));
  }
  file = (await sendRequest(await fileUrl())).body;
});

/** A copy of a resource with an id and a host of its own: the service has neither cached it nor a connection for it. */
async function copyOf(name: keyof typeof LINKS, origin: Partial<Resource['origin']> = {}): Promise<Resource> {
  const resource = resources.get(name) ?? expect.fail(name);
  const id = randomBytes(17).toString('base64url').slice(0, 22);
  const copy: Resource = {
    ...JSON.parse(service.renameHost(JSON.stringify(resource))),
    id,
    origin: { ...resource.origin, ...origin },
  };
  await service.state.putResource(copy);
  return copy;
}

async function archiveOf(): Promise<string> {
  const items = [await copyOf('file'), await copyOf('detailed')];
  const url = 'https://site.example/list';
  const id = archiveKey(items.map((item) => item.id).join());
  await service.state.putArchivedList({
    id,
    url,
    title: 'A list',
    author: null,
    expiresAt: items[0]?.expiresAt ?? 0,
    entries: items.map((item, index) => ({
      url: `${url}/${index}`,
      title: item.title,
      author: null,
      coverUrl: null,
      resourceId: item.id,
    })),
  });
  return `/api/Stream/Archive/${id}`;
}

const keyIn = (resource: Resource, traits: Partial<Rendition>): string => {
  const isWanted = (each: Rendition) =>
    Object.entries(traits).every(([name, value]) => Reflect.get(each, name) === value);
  return keyOf(resource.id, resource.renditions.findLast(isWanted)?.id ?? expect.fail(`No ${JSON.stringify(traits)}`));
};
const media = async (name: keyof typeof LINKS, traits: Partial<Rendition>, query = '') =>
  `/api/Stream/Media/${keyIn(await copyOf(name), traits)}${query}`;

/** The URL of a small stream, which shows that the service still serves. */
const fileUrl = async () => service.baseUrl + (await media('sound', { urlType: 'Media' }));

interface Flow {
  /** Prepares a new item and returns the path of its stream. */
  readonly prepare: () => Promise<string>;
  /** Whether it needs child processes. */
  readonly hasProcesses?: boolean;
  /** Whether it is sent in another form, which is not smaller, where a part of it cannot be made. */
  readonly hasOtherForm?: boolean;
}

const FLOWS: Readonly<Record<string, Flow>> = {
  'a file': { prepare: () => media('file', { urlType: 'Media' }) },
  HLS: { prepare: () => media('hls', { urlType: 'Media' }), hasProcesses: true },
  'encrypted HLS': { prepare: () => media('encrypted', { urlType: 'Media' }), hasProcesses: true },
  'a pair with a layout': { prepare: () => media('site', { urlType: 'Combined' }) },
  'a muxed pair': {
    prepare: async () => `/api/Stream/Combined/${keyIn(await copyOf('site'), { urlType: 'Combined' })}`,
  },
  MP3: { prepare: () => media('site', { side: 'audio', urlType: 'Media' }, '?format=mp3'), hasProcesses: true },
  'MP3 with a cover': {
    prepare: () => media('site', { side: 'audio', urlType: 'Media' }, '?format=mp3&tags=true'),
    hasProcesses: true,
    hasOtherForm: true,
  },
  // Without its length, each entry has a descriptor more.
  'a ZIP archive': { prepare: () => archiveOf(), hasOtherForm: true },
  'a clip': { prepare: () => media('site', { urlType: 'Combined' }, '?start=2&end=5') },
  'a file without segments': {
    prepare: async () => {
      const entryId = randomBytes(8).toString('base64url');
      service.addSegment(entryId);
      const item = await copyOf('site', { extractor: 'Youtube', entryId });
      return `/api/Stream/Media/${keyIn(item, { urlType: 'Combined' })}?skip=sponsor`;
    },
  },
  subtitles: {
    prepare: async () => {
      const resource = await copyOf('detailed');
      return `/api/Stream/Subtitle/${keyOf(resource.id, resource.subtitles?.[0]?.id ?? '')}`;
    },
  },
  'embedded subtitles': { prepare: () => media('detailed', { urlType: 'Media' }, '?subtitles=en') },
  'a cover': { prepare: async () => `/api/Stream/Cover/${keyIn(await copyOf('site'), { urlType: 'Media' })}` },
};

/** What may happen to a stream. */
const OUTCOMES: Readonly<Record<Failure, (effect: string) => RegExp>> = {
  // A failure of the network is always mended.
  fails: (effect) => (/^(lookup|connect|read|write)$/.test(effect) ? /^right$/ : /^(right|502)$/),
  'fails from then on': () => /^(right|502|broken)$/,
  'client leaves': () => /^(right|broken.*|no answer: other side closed)$/,
  'processes die': () => /^(right|502|broken)$/,
};

describe.each(Object.entries(FLOWS))('%s', (_name, { prepare, hasProcesses, hasOtherForm }) => {
  let right: Buffer;
  beforeAll(async () => {
    const { status, body } = await sendRequest(service.baseUrl + (await prepare()));
    expect(status, body.toString('utf8', 0, 500)).toBe(200);
    right = body;
  });

  const failures: readonly Failure[] = ['fails', 'fails from then on', 'client leaves'];
  it.each(hasProcesses ? [...failures, 'processes die' as const] : failures)('when each effect in turn %s', (failure) =>
    service.failEachEffect(failure, {
      prepare: async () => service.baseUrl + (await prepare()),
      request: (url) => outcomeOf(url, { right }).catch((error) => `no answer: ${error.message}`),
      right: 'right',
      check: async (outcome, effect, where) => {
        const [, bytes = 0] = /^ended well with (\d+) other bytes of/.exec(outcome) ?? [];
        const isOtherForm = hasOtherForm && Number(bytes) >= right.length;
        if (!isOtherForm) expect(outcome, where).toMatch(OUTCOMES[failure](effect));
        expect(await outcomeOf(await fileUrl(), { right: file }), `a file after ${where}`).toBe('right');
        await service.untilIdle();
      },
    }),
  );
});
