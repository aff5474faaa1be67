import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { EgressRefused, UpstreamError } from '../src/errors.ts';
import { clientFor, deadPort, serve, serveTcp } from './servers.ts';

describe('request to a failing upstream', () => {
  it('rejects with UpstreamError when the connection is refused', async () => {
    const port = await deadPort();
    const request = clientFor({ allow: [`127.0.0.1:${port}`] }).request(`http://127.0.0.1:${port}/`);
    await expect(request).rejects.toMatchObject({ name: 'UpstreamError', cause: expect.anything() });
  });

  it.each([
    ['hanging up', ''],
    ['resetting', null],
    ['speaking another protocol', '220 mail.example ESMTP\r\n'],
    ['sending half a head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['sending an endless head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1 << 20)}\r\n\r\n`],
  ])('rejects with UpstreamError after %s', async (_how, sent) => {
    const { host } = await serveTcp((socket) => {
      socket.once('data', () => (sent === null ? socket.resetAndDestroy() : socket.end(sent)));
    });
    const egress = clientFor({ allow: [host] });
    await expect(egress.request(`http://${host}/`)).rejects.toThrow(UpstreamError);
    await expect(egress.request(`https://${host}/`)).rejects.toThrow(UpstreamError);
  });

  it('rejects when the response head times out', async () => {
    const origin = await serveTcp((socket) => void socket.resume());
    const request = clientFor({ allow: [origin.host] }).request(`http://${origin.host}/`, { stallTimeoutMs: 50 });
    await expect(request).rejects.toThrow('Upstream response timed out');
    await origin.idle();
    const handshake = clientFor({ allow: [origin.host], connectTimeoutMs: 50 }).request(`https://${origin.host}/`);
    await expect(handshake).rejects.toThrow(UpstreamError);
    await origin.idle();
  });

  it.each([
    ['too early', { 'content-length': '10' }],
    ['in the middle of chunks', { 'transfer-encoding': 'chunked' }],
  ])('destroys a body that ends %s', async (_when, headers) => {
    const { host } = await serve((_request, response) => {
      response.writeHead(200, headers).write('five5', () => response.destroy());
    });
    const { body } = await clientFor({ allow: [host] }).request(`http://${host}/`);
    await expect(text(body)).rejects.toThrow(UpstreamError);
  });

  it('reads a slow body to its end', async () => {
    const { host } = await serve(async (_request, response) => {
      for (const byte of 'drop by drop') await new Promise((next) => response.write(byte, next));
      response.end();
    });
    const { body } = await clientFor({ allow: [host] }).request(`http://${host}/`, { stallTimeoutMs: 30_000 });
    expect(await text(body)).toBe('drop by drop');
  });
});

describe('response that nobody reads', () => {
  /** A redirect whose body never ends, which fails after the stall timeout where nothing closes it. */
  const redirecting = (location: string) =>
    serveTcp((socket) => {
      socket.once('data', () =>
        socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 100000\r\n\r\nfive5`),
      );
    });

  it.each([
    ['an invalid host', 'http://[', UpstreamError],
    ['no host', 'http://', UpstreamError],
    ['an invalid port', 'http://a:99999999/', UpstreamError],
    ['another scheme', 'ftp://localhost/', EgressRefused],
    ['a script', 'javascript:alert(1)', EgressRefused],
    ['a data URL', 'data:text/plain,x', EgressRefused],
    ['a file', 'file:///etc/passwd', EgressRefused],
    ['Gopher', 'gopher://1.1.1.1/', EgressRefused],
    ['a private address', 'http://127.0.0.1:1/', EgressRefused],
    ['a long URL', `/${'a'.repeat(9_000)}`, UpstreamError],
  ])('is closed after a redirect to %s', async (_what, location, failure) => {
    const origin = await redirecting(location);
    const egress = clientFor({ allow: [origin.host] });
    await expect(egress.request(`http://${origin.host}/`)).rejects.toThrow(failure);
    await origin.idle();
  });

  it('is closed when headers for the next hop cannot be made', async () => {
    const origin = await redirecting('/next');
    let hops = 0;
    const headersFor = () => {
      if (hops++ > 0) throw new Error('No headers');
      return {};
    };
    const request = clientFor({ allow: [origin.host] }).request(`http://${origin.host}/`, { headersFor });
    await expect(request).rejects.toThrow(UpstreamError);
    await origin.idle();
  });

  it.each([
    ['with its head', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n'],
    ['after the stall timeout', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5'],
  ])('owns its error when it fails %s', async (_when, sent) => {
    const origin = await serveTcp((socket) => void socket.once('data', () => socket.write(sent)));
    const egress = clientFor({ allow: [origin.host] });
    const { body } = await egress.request(`http://${origin.host}/`, { stallTimeoutMs: 50 });
    await origin.idle();
    await expect.poll(() => body.errored).toBeInstanceOf(UpstreamError);
    await expect(text(body)).rejects.toThrow(UpstreamError);
  });
});

describe('cancellation', () => {
  const endless = () =>
    serve((_request, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response
        .writeHead(200)
        .on('drain', write)
        .on('error', () => undefined);
      write();
    });

  it('closes the connection without an error when the body is destroyed', async () => {
    const origin = await endless();
    const { body } = await clientFor({ allow: [origin.host] }).request(`http://${origin.host}/`);
    body.destroy();
    await origin.idle();
    expect(body.errored).toBeNull();
  });

  it('aborts before the request, before the response head and during the body', async () => {
    const reason = new Error('the client left');
    const silent = await serveTcp((socket) => void socket.resume());
    const origin = await endless();
    const egress = clientFor({ allow: [silent.host, origin.host] });
    const signal = AbortSignal.abort(reason);
    await expect(egress.request(`http://${silent.host}/`, { signal })).rejects.toBe(reason);
    expect(silent.taken()).toBe(0);

    const waiting = new AbortController();
    const request = egress.request(`http://${silent.host}/`, { signal: waiting.signal });
    waiting.abort(reason);
    await expect(request).rejects.toBe(reason);

    const reading = new AbortController();
    const { body } = await egress.request(`http://${origin.host}/`, { signal: reading.signal });
    body.once('data', () => reading.abort(reason));
    await expect(body.resume().toArray()).rejects.toBe(reason);
    await origin.idle();
  });

  it('closes every connection with the egress', async () => {
    const origin = await endless();
    const egress = clientFor({ allow: [origin.host] });
    const { body } = await egress.request(`http://${origin.host}/`);
    const broken = expect(text(body)).rejects.toThrow(UpstreamError);
    await egress.close();
    await broken;
    await origin.idle();
    await expect(egress.request(`http://${origin.host}/`)).rejects.toThrow(UpstreamError);
  });
});
