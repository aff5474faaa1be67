import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event, Handler } from '../../lambdas/index.ts';
import { silentLog } from '../../layers/contract/index.ts';
import { createGateway } from '../../local/gateway.ts';

let server: Server;
let baseUrl = '';
beforeAll(async () => {
  const echo = async (event: Event) => ({ statusCode: 200, body: JSON.stringify(event) });
  const gateway = createGateway({
    routes: new Map<string, Handler>([
      ['/api/echo', echo],
      ['/page*', async () => ({ statusCode: 201, body: 'cGFnZQ==', isBase64Encoded: true, cookies: ['a=1', 'b=2'] })],
      ['/api/broken', async () => Promise.reject(new Error('secret'))],
    ]),
    fallback: async () => ({ statusCode: 404, body: 'nothing' }),
    log: silentLog,
  });
  server = createServer(gateway).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('the gateway', () => {
  it('makes events of payload format 2.0', async () => {
    const response = await fetch(`${baseUrl}/api/ECHO?url=a%20b&url=c?d`, {
      headers: { Accept: 'text/plain', cookie: 'x=1; y=2', 'user-agent': 'test' },
    });
    expect(await response.json()).toMatchObject({
      version: '2.0',
      rawPath: '/api/ECHO',
      rawQueryString: 'url=a%20b&url=c?d',
      cookies: ['x=1', 'y=2'],
      headers: { accept: 'text/plain', host: expect.any(String) },
      requestContext: {
        http: { method: 'GET', path: '/api/ECHO', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
        stage: '$default',
        timeEpoch: expect.any(Number),
      },
      isBase64Encoded: false,
    });
  });

  it('writes encoded bodies and every cookie', async () => {
    const response = await fetch(`${baseUrl}/page/of/it`);
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('page');
  });

  it('answers what a function throws with a problem that tells nothing', async () => {
    const response = await fetch(`${baseUrl}/api/broken`);
    expect(await response.json()).toEqual({ title: 'Internal Server Error', status: 500 });
  });

  it('hands what no route takes to the fallback', async () => {
    expect((await fetch(`${baseUrl}/api/%ZZ`)).status).toBe(404);
  });
});
