import { describe, expect, it } from 'vitest';
import { ALLOWED_ORIGIN, ask, createWorld, eventOf, functionsOver, jsonOf } from '../fakes.ts';

const LINK = '/api/Fetch/GetResource?url=https://media.example/1';
const GETS = ['/api/App', '/api/App/requests', LINK, '/api/New', '/swagger/v1/swagger.json'];

describe('every answer', () => {
  it.each(GETS)('%s is not sniffed and not kept', async (path) => {
    const { headers } = await ask(createWorld(), path);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });

  it.each(GETS)('%s may be read by a page of an allowed origin, and by no other', async (path) => {
    const allowed = await ask(createWorld(), path, { headers: { origin: ALLOWED_ORIGIN } });
    expect(allowed.headers?.['access-control-allow-origin']).toBe(ALLOWED_ORIGIN);
    const stranger = await ask(createWorld(), path, { headers: { origin: 'https://evil.example' } });
    expect(stranger.headers).not.toHaveProperty('access-control-allow-origin');
    expect(stranger.body).toBe(allowed.body);
    expect(stranger.headers?.vary).toMatch(/\bOrigin\b/);
  });

  it.each(['/api/App', LINK, '/api/New', '/api/Fetch/GetResource'])('%s is in the type asked for', async (path) => {
    const { headers } = await ask(createWorld(), path, { headers: { accept: 'text/plain' } });
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', vary: 'Accept, Origin' });
  });
});

describe('methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])('%s is not allowed', async (method) => {
    const answer = await ask(createWorld(), '/api/App', { method });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers?.allow).toBe('GET, HEAD, OPTIONS');
    expect(jsonOf(answer)).toEqual({ title: 'Method Not Allowed', status: 405 });
  });

  it('HEAD GetResource is not allowed, and resolves nothing', async () => {
    const world = createWorld();
    const answer = await ask(world, LINK, { method: 'HEAD' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers?.allow).toBe('GET, OPTIONS');
    expect(answer.body).toBeUndefined();
    expect(world).toMatchObject({ resolves: [], count: 0 });
  });

  it.each(['/api/App', '/api/App/requests', '/api/New'])('HEAD %s has the headers of GET alone', async (path) => {
    const get = await ask(createWorld(), path);
    const head = await ask(createWorld(), path, { method: 'HEAD' });
    expect(head.statusCode).toBe(get.statusCode);
    expect(head.headers).toEqual({ ...get.headers, 'content-length': String(get.body?.length) });
    expect(head.body).toBeUndefined();
  });

  it('OPTIONS is answered with what the path has', async () => {
    const world = createWorld();
    const answer = await ask(world, LINK, { method: 'OPTIONS', headers: { origin: ALLOWED_ORIGIN } });
    expect(answer).toMatchObject({
      statusCode: 204,
      headers: {
        allow: 'GET, OPTIONS',
        'access-control-allow-methods': 'GET',
        'access-control-allow-origin': ALLOWED_ORIGIN,
      },
    });
    expect(answer.body).toBeUndefined();
    expect(world.resolves).toEqual([]);
  });
});

describe('the description of the API', () => {
  it.each(['/swagger', '/swagger/', '/Swagger', '/swagger/swagger-ui.css', '/swagger/swagger-ui-bundle.js'])(
    '%s is part of the page in development',
    async (path) => {
      const { statusCode, headers, body } = await ask(createWorld(), path);
      expect(statusCode).toBe(200);
      expect(headers?.['content-security-policy']).toMatch(/default-src 'none'/);
      expect(body?.length).toBeGreaterThan(100);
    },
  );

  it('the page has nothing inline and nothing from elsewhere', async () => {
    const { body } = await ask(createWorld(), '/swagger');
    expect(body).not.toMatch(/https?:|<script>|<style|\son\w+=/);
  });

  it.each(['constructor', '__proto__', '../package.json', '%2e%2e%2fpackage.json', 'index.html.map', 'v1'])(
    '/swagger/%s is not found',
    async (name) => expect((await ask(createWorld(), `/swagger/${name}`)).statusCode).toBe(404),
  );

  it.each([
    ['/swagger', 404],
    ['/swagger/swagger-ui.css', 404],
    ['/swagger/v1/swagger.json', 200],
    ['/Swagger/V1/Swagger.json', 200],
  ])('%s in production is %d', async (path, status) => {
    const handler = functionsOver(createWorld(), 'Production').routes.get('/swagger*');
    expect((await handler?.(eventOf(path), {} as never))?.statusCode).toBe(status);
  });
});
