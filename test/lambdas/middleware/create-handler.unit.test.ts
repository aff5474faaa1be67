import { describe, expect, it } from 'vitest';
import { ask, createApiFakes, eventOf, functionsOver } from '../fakes.ts';

const LINK = '/api/Fetch/GetResource?url=https://media.example/1';
const GETS = ['/api/App', '/api/App/requests', LINK, '/api/New', '/swagger/v1/swagger.json'];

describe('createHandler', () => {
  it.each(GETS)('has nosniff and no-store: %s', async (path) => {
    const { headers } = await ask(createApiFakes(), path);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  });
});

describe('createGetApiDescription', () => {
  it.each(['/swagger', '/swagger/', '/Swagger', '/swagger/swagger-ui.css', '/swagger/swagger-ui-bundle.js'])(
    'serves %s in development',
    async (path) => {
      const { statusCode, headers, body } = await ask(createApiFakes(), path);
      expect(statusCode).toBe(200);
      expect(headers?.['content-security-policy']).toMatch(/default-src 'none'/);
      expect(body?.length).toBeGreaterThan(100);
    },
  );

  it('serves a page without inline code and external resources', async () => {
    const { body } = await ask(createApiFakes(), '/swagger');
    expect(body).not.toMatch(/https?:|<script>|<style|\son\w+=/);
  });

  it.each(['constructor', '__proto__', '../package.json', '%2e%2e%2fpackage.json', 'index.html.map', 'v1'])(
    'answers 404 to /swagger/%s',
    async (name) => expect((await ask(createApiFakes(), `/swagger/${name}`)).statusCode).toBe(404),
  );

  it('has no files of the page in production', async () => {
    const handler = functionsOver(createApiFakes(), 'Production');
    expect((await handler(eventOf('/swagger/swagger-ui.css'), {} as never)).statusCode).toBe(404);
  });
});
