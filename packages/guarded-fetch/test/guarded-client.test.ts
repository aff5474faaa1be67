import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EgressRefused, UpstreamError } from '../src/errors.ts';
import { certificateFile } from './certificate.ts';
import { clientFor, serve, serveTcp, serveTls } from './servers.ts';

describe('request', () => {
  it('resolves with status, headers, final URL and body', async () => {
    const { host } = await serve((_request, response) => {
      response.writeHead(206, { 'X-One': ['a', 'b'], 'Content-Type': 'video/mp4' }).end('media');
    });
    const answer = await clientFor({ allow: [host] }).request(`http://${host}/path?query#fragment`);
    expect(answer).toMatchObject({ status: 206, url: `http://${host}/path?query` });
    expect(answer.headers).toMatchObject({ 'x-one': 'a, b', 'content-type': 'video/mp4' });
    expect(await text(answer.body)).toBe('media');
  });

  it('requests the identity encoding and does not decode the body', async () => {
    const packed = gzipSync('text');
    const { host } = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'x-asked': request.headers['accept-encoding'] });
      response.end(packed);
    });
    const egress = clientFor({ allow: [host] });
    const answer = await egress.request(`http://${host}/`);
    expect(answer.headers['x-asked']).toBe('identity');
    expect(Buffer.concat(await answer.body.toArray())).toEqual(packed);
    const told = await egress.request(`http://${host}/`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(told.headers['x-asked']).toBe('gzip');
    told.body.destroy();
  });

  it.each([
    ['before it is read', false],
    ['while its reader waits', true],
  ])('closes the connection of a decoded body that is destroyed %s', async (_, isRead) => {
    const closed = Promise.withResolvers<void>();
    const { host } = await serve((request, response) => {
      request.socket.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-encoding': 'gzip' }).flushHeaders();
    });
    // Without a stall timeout, which would close it later.
    const options = { isDecoded: true, stallTimeoutMs: 0 };
    const answer = await clientFor({ allow: [host] }).request(`http://${host}/`, options);
    expect(answer.wasDecoded).toBe(true);
    if (isRead) {
      answer.body.resume();
      await nextTurn();
    }
    answer.body.destroy();
    await closed.promise;
  });

  it('reuses connections', async () => {
    const origin = await serve((_request, response) => void response.end('x'));
    const egress = clientFor({ allow: [origin.host] });
    for (let turn = 0; turn < 8; turn++) await text((await egress.request(`http://${origin.host}/`)).body);
    // A connection becomes idle shortly after the end of the body, so that two alternate.
    expect(origin.taken()).toBeLessThanOrEqual(2);
  });

  it('buffers one chunk at most for a paused reader and loses no byte', async () => {
    const sent = randomBytes(32 * 1024 * 1024);
    const { host } = await serve((_request, response) => void response.end(sent));
    const { body } = await clientFor({ allow: [host] }).request(`http://${host}/`);
    const digest = createHash('sha256');
    let most = 0;
    body.on('data', (chunk: Buffer) => {
      body.pause();
      digest.update(chunk);
      // Data in flight would arrive now.
      setImmediate(() => {
        most = Math.max(most, body.readableLength);
        body.resume();
      });
    });
    await once(body, 'end');
    expect(most).toBeLessThanOrEqual(256 * 1024);
    expect(digest.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('passes on chunks of one byte together, and returns to the event loop after every few thousand', async () => {
    const count = 200_000;
    const { host } = await serveTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.end(`${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
    });
    const { body } = await clientFor({ allow: [host] }).request(`http://${host}/`);
    const bytesByTurn = [0];
    const countTurn = () => {
      if (bytesByTurn.at(-1) !== 0) bytesByTurn.push(0);
      if (!body.readableEnded) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    let chunks = 0;
    body.on('data', (chunk: Buffer) => {
      chunks += 1;
      expect(chunk.equals(Buffer.alloc(chunk.length, 'x'))).toBe(true);
      bytesByTurn.push((bytesByTurn.pop() ?? 0) + chunk.length);
    });
    await once(body, 'end');
    expect(bytesByTurn.reduce((sum, bytes) => sum + bytes)).toBe(count);
    expect(Math.max(...bytesByTurn)).toBeLessThanOrEqual(8_000);
    expect(chunks).toBeLessThan(2_000);
  });

  it('sends neither userinfo nor connection-specific headers', async () => {
    const { host } = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const headers = { Host: 'other', Connection: 'close', 'Proxy-Authorization': 'secret', 'Transfer-Encoding': 'x' };
    const answer = await clientFor({ allow: [host] }).request(`http://user:secret@${host}/`, { headers });
    const got = JSON.parse(await text(answer.body));
    expect(got.host).toBe(host);
    expect(JSON.stringify(got)).not.toContain('secret');
  });

  it('rejects with UpstreamError for an invalid header', async () => {
    const origin = await serve((_request, response) => void response.end());
    const request = clientFor({ allow: [origin.host] }).request(`http://${origin.host}/`, {
      headers: { x: 'a\r\nb: c' },
    });
    await expect(request).rejects.toThrow(UpstreamError);
    expect(origin.taken()).toBe(0);
  });

  // That one is accepted at the address that was checked, is in routes.test.ts.
  it.each([
    ['of an unknown authority', 'origin.test', undefined],
    ['of another name', 'other.test', certificateFile],
  ])('rejects a certificate %s', async (_, name, extraCaFile) => {
    const origin = await serveTls((_request, response) => void response.end());
    const egress = clientFor({ allow: [`${name}:${origin.port}`], names: { [name]: ['127.0.0.1'] }, extraCaFile });
    await expect(egress.request(`https://${name}:${origin.port}/`)).rejects.toThrow(UpstreamError);
    await origin.idle();
  });
});

describe('request, guarded', () => {
  it('connects only to the admitted addresses of a name', async () => {
    const { port } = await serve((_request, response) => void response.end('here'));
    const names = { 'mixed.test': ['169.254.169.254', '127.0.0.1', '10.0.0.1'] };
    const egress = clientFor({ names, allow: [`127.0.0.1:${port}`] });
    expect(await text((await egress.request(`http://mixed.test:${port}/`)).body)).toBe('here');
  });

  // Other schemes, also where a redirect leads to them: guarded-client-failures.test.ts.
  it.each(['file:///etc/passwd', 'not a url', ''])('refuses %j', async (target) =>
    expect(clientFor({}).request(target)).rejects.toThrow(EgressRefused),
  );

  it('rejects with UpstreamError when the lookup fails', async () => {
    const busy = async () => {
      throw Object.assign(new Error('busy'), { code: 'EAI_AGAIN' });
    };
    const hanging = () => new Promise<never>(() => undefined);
    for (const lookup of [busy, hanging]) {
      const egress = clientFor({ lookup, connectTimeoutMs: 50 });
      await expect(egress.request('http://slow.test/')).rejects.toThrow(UpstreamError);
    }
  });
});

describe('request, redirected', () => {
  it.each([301, 302, 303, 307, 308])('follows status %d to relative and absolute targets', async (status) => {
    const { host } = await serve((request, response) => {
      if (request.url === '/a/start') response.writeHead(status, { location: '../next' }).end('moved');
      else if (request.url === '/next') response.writeHead(status, { location: `http://${host}/end?q=1` }).end();
      else response.end(request.url);
    });
    const answer = await clientFor({ allow: [host] }).request(`http://${host}/a/start`);
    expect(answer.url).toBe(`http://${host}/end?q=1`);
    expect(await text(answer.body)).toBe('/end?q=1');
  });

  it('decodes a Location that is not ASCII as UTF-8', async () => {
    const { host } = await serve((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: Buffer.from('/größe').toString('latin1') }).end();
      else response.end(request.url);
    });
    const answer = await clientFor({ allow: [host] }).request(`http://${host}/`);
    expect(await text(answer.body)).toBe('/gr%C3%B6%C3%9Fe');
  });

  it('returns a redirect without Location', async () => {
    const { host } = await serve((_request, response) => void response.writeHead(302).end('here'));
    const answer = await clientFor({ allow: [host] }).request(`http://${host}/`);
    expect(answer.status).toBe(302);
    expect(await text(answer.body)).toBe('here');
  });

  it('rejects a redirect loop and leaves no connection busy', async () => {
    let asked = 0;
    const origin = await serve((_request, response) => {
      asked++;
      response.writeHead(302, { location: '/' }).end('x'.repeat(100_000));
    });
    const egress = clientFor({ allow: [origin.host] });
    await expect(egress.request(`http://${origin.host}/`, { maxRedirects: 4 })).rejects.toThrow(UpstreamError);
    expect(asked).toBe(5);
    await egress.close();
    await origin.idle();
  });

  it('sends no cookie and no credential to another host, and calls headersFor for it', async () => {
    const other = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const first = await serve((request, response) => {
      if (request.url === '/same') response.end(JSON.stringify(request.headers));
      else response.writeHead(302, { location: request.url === '/' ? '/same' : `http://${other.host}/` }).end();
    });
    const egress = clientFor({ allow: [first.host, other.host] });
    const hops: string[] = [];
    const options = {
      headers: { Cookie: 'a=1', AUTHORIZATION: 'Bearer t', Referer: 'http://page/' },
      headersFor: (url: URL) => {
        hops.push(url.host);
        return { 'X-For': url.host };
      },
    };
    const same = JSON.parse(await text((await egress.request(`http://${first.host}/`, options)).body));
    expect(same).toMatchObject({ cookie: 'a=1', authorization: 'Bearer t', 'x-for': first.host });
    const away = JSON.parse(await text((await egress.request(`http://${first.host}/away`, options)).body));
    expect(away).toMatchObject({ referer: 'http://page/', 'x-for': other.host });
    expect(away).not.toHaveProperty('cookie');
    expect(away).not.toHaveProperty('authorization');
    expect(hops).toEqual([first.host, first.host, first.host, other.host]);
  });
});
