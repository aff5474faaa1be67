import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateUnavailable } from '../../../core/errors/errors.ts';
import { ask } from '../../support/request.ts';
import { fileSource } from '../conversions/mp3/fixture.ts';
import { mediaKey, renditionOf, resourceOf, type Service, startService, trackOf } from '../fixture.ts';

const source = () => fileSource(Buffer.from('some media'));
const PAGE = 'https://page.example';
let service: Service;
let media: string;
beforeAll(async () => {
  service = await startService(resourceOf([trackOf('file')]), { file: source() }, { corsAllowedOrigins: [PAGE] });
  media = `/api/Stream/Media/${mediaKey('file')}`;
});
afterAll(() => service.close());

const at = (path: string, method = 'GET', headers = {}) => ask(service.url + path, { method, headers });
const NOT_FOUND = { title: 'Resource Not Found', status: 404 };

describe('what is not there', () => {
  it.each([
    ['an unknown path', '/api/Stream/Other/x'],
    ['no key', '/api/Stream/Media/'],
    ['another path below a key', `/api/Stream/Media/${mediaKey('file')}/more`],
    ['an unknown key', `/api/Stream/Media/${'A'.repeat(33)}`],
    ['a key in the wrong case', `/api/Stream/Media/${mediaKey('file').toLowerCase()}`],
    ['a malformed key', '/api/Stream/Media/not!a*key'],
    ['an undecodable key', '/api/Stream/Media/%ZZ'],
    ['an undecodable path', '/%ZZ/%'],
    ['half of a UTF-8 character', '/api/Stream/Media/%C3'],
    ['a NUL', '/api/Stream/Media/%00'],
    ['an overlong key', `/api/Stream/Media/${'A'.repeat(5000)}`],
    ['a key of another type', `/api/Stream/Combined/${mediaKey('file')}`],
    ['dots', '/api/Stream/Media/../../etc/passwd'],
    ['encoded slashes', '/api/Stream/Media/%2e%2e%2fpasswd'],
    ['an object of JavaScript', '/api/Stream/Media/__proto__'],
  ])('%s', async (_name, path) => {
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

  it('is told in the type the client rates highest', async () => {
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
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])('%s is not allowed on a stream', async (method) => {
    const { status, headers, body } = await at(media, method);
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, HEAD, OPTIONS');
    expect(JSON.parse(body.toString())).toEqual({ title: 'Method Not Allowed', status: 405 });
  });

  it.each(['POST', 'PROPFIND'])('%s of an unknown path is not found', async (method) => {
    expect((await at('/nothing', method)).status).toBe(404);
  });

  it('does not look at a body that comes with one', async () => {
    const request = ['POST /api/Stream/Media/x HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
    const body = ['Content-Length: 9', 'Connection: close', '', '{"broken"'];
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write([...request, ...body].join('\r\n'));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 405 .*"Method Not Allowed"/s);
  });
});

describe('what is no HTTP', () => {
  it.each([
    ['a line of nonsense', 'nonsense\r\n\r\n', 400, 'Bad Request'],
    ['a method nobody has', `BREW ${'/x'} HTTP/1.1\r\nHost: x\r\n\r\n`, 405, 'Method Not Allowed'],
    [
      'endless headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(80_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
  ])('%s', async (_name, bytes, status, title) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined).write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(body)).toEqual({ title, status });
  });
});

describe('pages of other origins', () => {
  it('may read streams and failures when they are listed', async () => {
    for (const path of [media, '/nothing']) {
      const { headers } = await at(path, 'GET', { origin: PAGE });
      expect(headers['access-control-allow-origin']).toBe(PAGE);
      expect(headers['access-control-expose-headers']).toContain('Content-Range');
      expect(headers.vary).toContain('Origin');
    }
  });

  it('get the body without the headers when they are not', async () => {
    const { status, headers, body } = await at(media, 'GET', { origin: 'https://other.example' });
    expect(status).toBe(200);
    expect(body.toString()).toBe('some media');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('may ask for ranges', async () => {
    const asked = { origin: PAGE, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' };
    const { status, headers } = await at(media, 'OPTIONS', asked);
    expect(status).toBe(204);
    expect(headers['access-control-allow-headers']).toMatch(/range/i);
  });
});

describe('a table that does not answer', () => {
  it('is 502', async () => {
    const failing = () => Promise.reject(new StateUnavailable('the table at 10.0.0.1 timed out'));
    const state = { getResource: failing, touchResource: failing };
    const broken = await startService(resourceOf([]), {}, { state });
    const { status, body } = await ask(broken.url + media);
    expect(status).toBe(502);
    expect(JSON.parse(body.toString())).toEqual({ title: 'Fetch Failed', status: 502 });
    await broken.close();
  });

  it('does not keep a stream from being sent when it cannot be written to', async () => {
    const resource = resourceOf([trackOf('file')]);
    const state = { getResource: async () => resource, touchResource: () => Promise.reject(new Error('throttled')) };
    const throttled = await startService(resource, { file: source() }, { state });
    expect((await ask(throttled.url + media)).status).toBe(200);
    await throttled.close();
  });
});

describe('a fault of ours', () => {
  it('is 500 and tells nothing', async () => {
    // A resource as no resolve would store it.
    const resource = resourceOf([], { renditions: [{ ...renditionOf(['file']), formatIds: undefined as never }] });
    const faulty = await startService(resource, {});
    const { status, body } = await ask(faulty.url + media);
    expect(status).toBe(500);
    expect(JSON.parse(body.toString())).toEqual({ title: 'Internal Server Error', status: 500 });
    await faulty.close();
  });
});
