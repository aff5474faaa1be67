import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateUnavailable } from '../../../core/errors/errors.ts';
import { sendRequest } from '../../support/request.ts';
import { mediaKey, renditionOf, resourceOf, type Service, startService, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const source = () => fileSource(Buffer.from('some media'));
const PAGE = 'https://page.example';
let service: Service;
let media: string;
beforeAll(async () => {
  service = await startService(resourceOf([trackOf('file')]), { file: source() }, { corsAllowedOrigins: [PAGE] });
  media = `/api/Stream/Media/${mediaKey('file')}`;
});
afterAll(() => service.close());

const at = (path: string, method = 'GET', headers = {}) => sendRequest(service.url + path, { method, headers });
const NOT_FOUND = { type: '/problems/not-found', title: 'Resource Not Found', status: 404 };

describe('404', () => {
  it.each([
    ['an unknown path', '/api/Stream/Other/x'],
    ['no key', '/api/Stream/Media/'],
    ['another path below a key', `/api/Stream/Media/${mediaKey('file')}/more`],
    ['an unknown key', `/api/Stream/Media/${'A'.repeat(33)}`],
    ['a key in the wrong case', `/api/Stream/Media/${mediaKey('file').toLowerCase()}`],
    ['a malformed key', '/api/Stream/Media/not!a*key'],
    ['an undecodable key', '/api/Stream/Media/%ZZ'],
    ['an undecodable path', '/%ZZ/%'],
    ['a truncated UTF-8 character', '/api/Stream/Media/%C3'],
    ['a NUL', '/api/Stream/Media/%00'],
    ['an overlong key', `/api/Stream/Media/${'A'.repeat(5000)}`],
    ['dots', '/api/Stream/Media/../../etc/passwd'],
    ['encoded slashes', '/api/Stream/Media/%2e%2e%2fpasswd'],
    ['a property of Object.prototype', '/api/Stream/Media/__proto__'],
  ])('answers %s', async (_name, path) => {
    const { status, headers, body } = await at(path);
    expect(status).toBe(404);
    expect(JSON.parse(body.toString())).toEqual(NOT_FOUND);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      vary: 'Origin, Accept',
    });
  });

  it('has the content type that the client prefers', async () => {
    const { headers, body } = await at('/nothing', 'GET', { accept: 'text/plain;q=0.9, text/json' });
    expect(headers['content-type']).toBe('text/json; charset=utf-8');
    expect(JSON.parse(body.toString())).toEqual(NOT_FOUND);
  });

  it('has no body for HEAD', async () => {
    const { status, body } = await at('/api/Stream/Media/unknown', 'HEAD');
    expect(status).toBe(404);
    expect(body.length).toBe(0);
  });
});

describe('methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])(
    'answers %s on a stream with 405',
    async (method) => {
      const { status, headers, body } = await at(media, method);
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(JSON.parse(body.toString())).toEqual({
        type: '/problems/method-not-allowed',
        title: 'Method Not Allowed',
        status: 405,
      });
    },
  );

  it.each(['POST', 'PROPFIND'])('answers %s on an unknown path with 404', async (method) => {
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
});

describe('CORS', () => {
  it('lets listed origins read streams and failures', async () => {
    for (const path of [media, '/nothing']) {
      const { headers } = await at(path, 'GET', { origin: PAGE });
      expect(headers['access-control-allow-origin']).toBe(PAGE);
      expect(headers['access-control-expose-headers']).toContain('Content-Range');
      expect(headers.vary).toContain('Origin');
    }
  });

  it('sends no CORS headers to other origins', async () => {
    const { status, headers, body } = await at(media, 'GET', { origin: 'https://other.example' });
    expect(status).toBe(200);
    expect(body.toString()).toBe('some media');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('allows Range in a preflight', async () => {
    const asked = { origin: PAGE, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' };
    const { status, headers } = await at(media, 'OPTIONS', asked);
    expect(status).toBe(204);
    expect(headers['access-control-allow-headers']).toMatch(/range/i);
  });
});

describe('an unavailable state table', () => {
  it('answers 502', async () => {
    const failing = () => Promise.reject(new StateUnavailable('the table at 10.0.0.1 timed out'));
    const lists = { getArchivedList: failing, touchArchivedList: failing };
    const state = {
      getResource: failing,
      touchResource: failing,
      putExactSize: failing,
      getAttachment: failing,
      putAttachment: failing,
      ...lists,
    };
    const broken = await startService(resourceOf([]), {}, { state });
    const { status, body } = await sendRequest(broken.url + media);
    expect(status).toBe(502);
    expect(JSON.parse(body.toString())).toEqual({
      type: '/problems/service-failed',
      title: 'Fetch Failed',
      status: 502,
    });
    await broken.close();
  });

  it('sends the stream when extending the expiry fails', async () => {
    const resource = resourceOf([trackOf('file')]);
    const throttle = () => Promise.reject(new Error('throttled'));
    const lists = { getArchivedList: throttle, touchArchivedList: throttle };
    const write = { touchResource: throttle, putExactSize: throttle, putAttachment: throttle };
    const state = { getResource: async () => resource, getAttachment: async () => undefined, ...write, ...lists };
    const throttled = await startService(resource, { file: source() }, { state });
    expect((await sendRequest(throttled.url + media)).status).toBe(200);
    await throttled.close();
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
    await faulty.close();
  });
});
