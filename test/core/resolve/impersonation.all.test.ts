import { createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { NotFound } from '../../../core/errors/index.ts';
import { silentLog } from '../../../core/log/index.ts';
import { listImpersonateTargets } from '../../../packages/yt-dlp-worker/src/yt-dlp/query-yt-dlp.ts';
import { resourceWith, trackAt } from '../../stream-service/source/upstream.ts';
import { asProblem } from '../../support/as-problem.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { installedTools, ytDlpWithCurlCffi } from '../../support/installed-tools.ts';
import { listen } from '../../support/listen.ts';
import { startResolver } from './start-resolver.ts';

const withCurlCffi = await ytDlpWithCurlCffi();
const impersonate = ['127.0.0.1=chrome', 'safari'];
const warnings: string[] = [];
const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
const warm = await startResolver({ adapt: () => withCurlCffi, impersonate });
const perLink = await startResolver({ adapt: () => ({ ...withCurlCffi, mode: 'process-per-link' }), impersonate });
const plain = await startResolver({ impersonate, log });

/** A server that the guard refuses, and what reaches it. */
let connections = 0;
const inside = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
const { host: insideHost } = closeAfterwards(await listen(inside));

const headersOf = async ({ origin, resolve }: typeof warm, path: string) => {
  await resolve(path);
  return origin.requestsTo(path).map(({ headers }) => headers);
};

const links = (fixture: typeof warm): [by: string, link: string][] => [
  ['http', `http://${insideHost}/x.mp4`],
  ['https', `https://${insideHost}/x.mp4`],
  ['a redirect', fixture.origin.url(`/redirects/to?url=http://${insideHost}/x.mp4`)],
];

describe.each([
  ['the warm worker', warm, links(warm)],
  // Each takes the start of an interpreter: one is enough, the requests are the same.
  ['one process per link', perLink, links(perLink).slice(1, 2)],
])('impersonation by %s', (_, fixture, refused) => {
  it('sends the headers of the browser that the rule of the site names', async () => {
    const [first] = await headersOf(fixture, '/pages/video');
    expect(first?.['user-agent']).toMatch(/Chrome\/\d+/);
    expect(first?.['sec-ch-ua']).toContain('Chrom');
  });

  it.each(refused)('does not pass the egress guard by %s', async (_by, link) => {
    const resolving = fixture.resolver.resolve(link, { deadline: Date.now() + 150_000 });
    await expect(asProblem(resolving)).rejects.toMatchObject({ details: { status: 404 } });
    expect(connections).toBe(0);
  });
});

describe('a subtitle file', () => {
  // A start that a busy machine delays would take the time for the file.
  beforeAll(() => plain.resolver.warm());

  const read = ({ origin, resolver }: typeof warm, path: string) => {
    const track = trackAt(origin.url(path));
    return resolver.readAsBrowser(resourceWith(track), track, new AbortController().signal, '');
  };

  it.each([
    ['as a browser by a build with curl_cffi', warm, /Chrome|Safari|Firefox/],
    ['as any client by another build', plain, /.*/],
  ])('is read %s', async (_, fixture, client) => {
    const expected = await fetch(fixture.origin.url('/plain/subtitles.vtt?expected'));
    const bytes = await read(fixture, '/plain/subtitles.vtt?read');
    expect(bytes.toString()).toBe(await expected.text());
    expect(fixture.origin.requestsTo('/plain/subtitles.vtt?read')[0]?.headers['user-agent']).toMatch(client);
  });

  it('does not pass the egress guard', async () => {
    await expect(read(warm, `http://${insideHost}/s.vtt`)).rejects.toBeInstanceOf(NotFound);
    expect(connections).toBe(0);
  });
});

describe('a build of yt-dlp without curl_cffi', () => {
  it('resolves without impersonation, which the log says once', async () => {
    const [first] = await headersOf(plain, '/pages/video');
    expect(first).not.toHaveProperty('sec-ch-ua');
    await headersOf(plain, '/files/clip.mp4');
    expect(warnings).toEqual(['yt-dlp cannot imitate browsers: this build lacks curl_cffi']);
  });

  it('lists no targets, and one with it lists browsers with their versions', async () => {
    expect(await listImpersonateTargets((await installedTools()).ytDlp)).toEqual([]);
    expect(await listImpersonateTargets(withCurlCffi)).toContainEqual(expect.stringMatching(/^chrome-\d+:macos-\d+$/));
  });
});
