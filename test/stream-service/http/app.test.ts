import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../core/api/operations.ts';
import { createProblem } from '../../../core/api/problem.ts';
import { StateUnavailable } from '../../../core/errors/index.ts';
import { silentLog } from '../../../core/log/index.ts';
import { sendRequest } from '../../support/request.ts';
import { mediaKey, refusalOf, renditionOf, resourceOf, startService, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const source = () => fileSource(Buffer.from('some media'));
const options = { corsAllowedOrigins: ['https://page.example'] };
const service = await startService(resourceOf([trackOf('file')]), { file: source() }, options);
const media = `/api/Stream/Media/${mediaKey('file')}`;

const at = (path: string, method = 'GET') => sendRequest(service.url + path, { method });

// What the API answers too is in test/contract: paths, keys, methods, CORS, content types.
describe('404', () => {
  it.each([
    ['an undecodable path', '/%ZZ/%'],
    ['a truncated UTF-8 character', '/api/Stream/Media/%C3'],
    ['a property of Object.prototype', '/api/Stream/Media/__proto__'],
  ])('answers %s, which no cache keeps', async (_name, path) => {
    const { status, headers } = await at(path);
    expect(status).toBe(404);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      vary: 'Origin, Sec-Fetch-Site, Accept',
    });
  });
});

describe('pages of other sites', () => {
  const OF_OTHERS = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'video' };
  const paths = routes.flatMap(({ servedBy, path, methods }) =>
    methods.map((method) => [servedBy, method, path.replace('{file}', 'media.mp4')] as const),
  );
  const streams = paths.filter(([servedBy]) => servedBy === 'stream-service');

  it.each(streams)('learn nothing from the %s by %s %s, which looks nothing up', async (_, method, path) => {
    const asked: string[] = [];
    const look = async (id: string) => void asked.push(id);
    const resource = (id: string) => {
      asked.push(id);
      return resourceOf([trackOf('file')]);
    };
    const state = { getArchivedList: look, getArchiveProgress: look } as object;
    const closed = await startService(resource, { file: source() }, { corsAllowedOrigins: [], state });
    const answers = ['a-job-of-another', mediaKey('file'), 'A'.repeat(33)].map(async (key) => {
      const url = closed.url + path.replace(/\{(key|jobId)\}/, key);
      const { status, headers, body } = await sendRequest(url, { method, headers: OF_OTHERS });
      return { status, headers: { ...headers, date: '' }, body: body.toString() };
    });
    const [first, ...others] = await Promise.all(answers);
    for (const answer of others) expect(answer).toEqual(first);
    expect(first).toMatchObject({ status: 403, headers: { 'cross-origin-resource-policy': 'same-site' } });
    expect(asked).toEqual([]);
  });

  it('leave others what a shared cache may keep, and get nothing of it', async () => {
    const headersOf = async (headers: Record<string, string>) => {
      const { status, headers: answered } = await sendRequest(service.url + media, { headers });
      return [status, answered['cache-control']?.split(',')[0], answered.vary];
    };
    const vary = 'Origin, Sec-Fetch-Site';
    const link = { ...OF_OTHERS, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await headersOf({})).toEqual([200, 'public', vary]);
    expect(await headersOf(link)).toEqual([200, 'private', vary]);
    expect(await headersOf({ ...OF_OTHERS, referer: 'https://page.example/' })).toEqual([200, 'private', vary]);
    const allowed = { origin: 'https://page.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    expect(await headersOf(allowed)).toEqual([200, 'public', vary]);
  });
});

describe('blank parameters', () => {
  it.each([
    ['Media', 'format=&bitrate=&tags=&subtitles=&start=+&end=%20'],
    ['Combined', 'subtitles=&start=%20'],
  ])('of %s, %s, have no effect', async (operation, query) => {
    const { status, body } = await at(`${media.replace('Media', operation)}?${query}`);
    expect([status, body.toString()]).toEqual([200, 'some media']);
  });

  it('answers a value beside a blank one as without the blank one', async () => {
    const url = `${service.url}${media}?tags=&tags=yes`;
    expect(await refusalOf(url)).toEqual([400, 'tags must be true, or absent']);
  });
});

describe('methods', () => {
  it.each(['TRACE', 'PROPFIND'])('answers %s on a stream with 405, and on an unknown path with 404', async (method) => {
    const { status, headers } = await at(media, method);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await at('/nothing', method)).status).toBe(404);
  });

  it('does not parse the request body', async () => {
    const request = ['POST /api/Stream/Media/x HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
    const body = ['Content-Length: 9', 'Connection: close', '', '{"broken"'];
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write([...request, ...body].join('\r\n'));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 405 .*"Method Not Allowed"/s);
  });
});

describe('malformed HTTP', () => {
  it.each([
    ['a line of nonsense', 'nonsense\r\n\r\n', 'bad-parameter', 400, 'Bad Request'],
    ['an unknown method', `BREW ${'/x'} HTTP/1.1\r\nHost: x\r\n\r\n`, 'method-not-allowed', 405, 'Method Not Allowed'],
    [
      'endless headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(80_000)}\r\n\r\n`,
      'headers-too-large',
      431,
      'Request Header Fields Too Large',
    ],
  ])('answers %s', async (_name, bytes, name, status, title) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined).write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toEqual({ type: `/problems/${name}`, title, status });
  });

  it('breaks off a response that is being sent, and writes nothing into it', async () => {
    const read = () => {
      const body = new PassThrough();
      body.write('media');
      return body;
    };
    const sending = await startService(resourceOf([trackOf('file')]), { file: { ...source(), read } });
    const socket = connect(Number(new URL(sending.url).port), '127.0.0.1');
    socket.on('error', () => undefined).write(`GET ${media} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let received = '';
    for await (const chunk of socket.setEncoding('latin1')) {
      received += chunk;
      if (received.endsWith('media')) socket.write('nonsense\r\n\r\n');
    }
    expect(received.split('\r\n\r\n')[1]).toBe('media');
  });
});

describe('an unavailable state table', () => {
  it('answers 502', async () => {
    const failing = () => Promise.reject(new StateUnavailable('the table at 10.0.0.1 timed out'));
    const state = { getResource: failing };
    const broken = await startService(resourceOf([]), {}, { state });
    const { status, body } = await sendRequest(broken.url + media);
    expect(status).toBe(502);
    expect(JSON.parse(body.toString())).toEqual({
      type: '/problems/service-failed',
      title: 'Fetch Failed',
      status: 502,
    });
  });

  it('sends the stream when extending the expiry fails', async () => {
    const resource = resourceOf([trackOf('file')]);
    const throttle = () => Promise.reject(new Error('throttled'));
    const state = { touchResource: throttle, putExactSize: throttle, putAttachment: throttle };
    const throttled = await startService(resource, { file: source() }, { state });
    expect((await sendRequest(throttled.url + media)).status).toBe(200);
  });
});

describe('a failed stream', () => {
  it('is logged with its site and format', async () => {
    const lines: [message: string, fields: object | undefined][] = [];
    const log = { ...silentLog, warn: (message: string, fields?: object) => void lines.push([message, fields]) };
    const resource = resourceOf([trackOf('file')], { renditions: [{ ...renditionOf(['file']), label: '720p' }] });
    const failing = await startService(resource, { file: () => Promise.reject(createProblem('site-error')) }, { log });
    expect((await sendRequest(failing.url + media)).status).toBe(502);
    expect(lines).toMatchObject([
      [
        'Opening a stream failed',
        { status: 502, site: 'site.example', format: '720p', route: '/api/Stream/Media/:key' },
      ],
    ]);
  });
});

describe('an internal error', () => {
  it('answers 500 without details', async () => {
    // A resource as no resolve would store it.
    const resource = resourceOf([], { renditions: [{ ...renditionOf(['file']), formatIds: undefined as never }] });
    const faulty = await startService(resource, {});
    const { status, body } = await sendRequest(faulty.url + media);
    expect(status).toBe(500);
    expect(JSON.parse(body.toString())).toEqual({
      type: '/problems/internal',
      title: 'Internal Server Error',
      status: 500,
    });
  });
});
