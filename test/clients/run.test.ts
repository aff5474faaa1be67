import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXIT_CODES, runCommandLine } from '../../clients/reelay-client/src/cli/run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serve } from '../web/fakes/serve.ts';

const LIST = 'https://list.example/';

it('prints failures of a folder update by type, and on an interrupt that no file is unfinished', async () => {
  const instance = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const json = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (pathname.endsWith('/GetResource')) {
      const items = ['One', 'Two'].map((title) => ({ title, requestedUrl: LIST + title }));
      return json(200, { type: 'PlayList', mediaItems: items });
    }
    if (searchParams.get('url')?.endsWith('Two'))
      return json(404, { type: '/problems/gone', title: 'Resource Not Found', status: 404 });
    if (pathname.endsWith('/GetDetails')) return json(200, { isLive: false });
    if (pathname === '/api/Get') return response.writeHead(302, { location: '/api/Stream/Media/K' }).end();
    // Without a length: it cannot be continued.
    return response.end('media');
  });
  const interrupted = new AbortController();
  let stderr = '';
  const write = (text: string) => {
    stderr += text;
    if (text.includes(' fetched')) interrupted.abort();
  };
  const code = await runCommandLine([LIST, '-o', `${join(await temporaryFolder(), 'list')}/`, '--every', '60'], {
    stdout: { write: () => undefined },
    stderr: { write },
    environment: { REELAY_INSTANCE: instance },
    version: '0.0.0',
    signal: interrupted.signal,
  });
  expect([code, stderr]).toEqual([
    EXIT_CODES.interrupted,
    '[1/2] One: 5 B\n[2/2] Two: the site has removed it\n1 fetched, 0 there already, 1 failed\nInterrupted.\n',
  ]);
});
