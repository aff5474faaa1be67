import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createAcceptRequest } from '../../local/service/request-authority.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';

/** Starts a server that answers with the target and host of the request that it routes. */
async function start(host = '127.0.0.1', allowedHosts: string[] = []) {
  const accept = createAcceptRequest({ host, allowedHosts });
  const server = createServer((request, response) => {
    if (accept(request, response))
      response.end(`${request.url} ${request.headersDistinct.host} ${request.headers.host}`);
  });
  const { port } = closeAfterwards(await listen(server));
  return async (target: string, hosts: string[], version = '1.1') => {
    const socket = connect(port, '127.0.0.1');
    const lines = [`GET ${target} HTTP/${version}`, ...hosts.map((name) => `Host: ${name}`), 'Connection: close'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const answer = await text(socket);
    return { status: Number(answer.split(' ')[1]), body: answer.split('\r\n\r\n')[1] ?? '', answer };
  };
}

const NOWHERE = { type: '/problems/unknown-instance', title: 'Misdirected Request', status: 421 };

describe('host names', () => {
  it.each([
    ...['localhost:8080', 'LOCALHOST', 'localhost.', '127.0.0.1:8080', '[::1]:8080', 'media.lan:80'].map(
      (name) => [name, '127.0.0.1', ['media.lan'], 200] as const,
    ),
    // DNS may resolve them to this machine.
    ...['rebound.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', '127.0.0.2', '2130706433'].map(
      (name) => [name, '127.0.0.1', ['media.lan'], 421] as const,
    ),
    ['[::ffff:127.0.0.1]', '127.0.0.1', ['media.lan'], 421],
    ['evil.media.lan', '127.0.0.1', ['media.lan'], 421],
    ['media.example', '0.0.0.0', [], 200],
    ['media.example:8080', '0.0.0.0', ['media.example'], 200],
    ['other.example', '0.0.0.0', ['media.example'], 421],
  ] as const)('%s on %s with ALLOWED_HOSTS %j is answered with %d', async (name, host, allowedHosts, status) => {
    const answered = await (await start(host, [...allowedHosts]))('/api/App', [name]);
    expect(answered.status).toBe(status);
    if (status === 200) return;
    expect(JSON.parse(answered.body)).toEqual(NOWHERE);
    expect(answered.answer).not.toMatch(/access-control/i);
  });

  it('may be missing in HTTP/1.0', async () => expect((await (await start())('/', [], '1.0')).status).toBe(200));
});

describe('targets and Host of RFC 9112 §3.2', () => {
  it.each([
    ['http://localhost:8080/api/App?x=1', '/api/App?x=1 localhost:8080 localhost:8080'],
    ['HTTP://LOCALHOST', '/ LOCALHOST LOCALHOST'],
    ['http://localhost?x=1', '/?x=1 localhost localhost'],
  ])('serves the absolute form %s whatever Host says', async (target, body) => {
    const send = await start();
    expect(await send(target, ['rebound.example'])).toMatchObject({ status: 200, body });
  });

  it.each([
    ['an absolute form for another host', 'http://rebound.example/', ['localhost'], 421],
    ['an absolute form without a host', 'http:///api/App', ['localhost'], 400],
    ['an absolute form with user information', 'http://user@localhost/', ['localhost'], 400],
    ['two Host headers', '/api/App', ['localhost', 'localhost'], 400],
    ['an invalid Host', '/api/App', ['localhost/path'], 400],
    ['a list as Host', '/api/App', ['localhost,evil.example'], 421],
  ])('answers %s', async (_, target, hosts, status) => {
    const answer = await (await start())(target, hosts);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ status });
  });
});
