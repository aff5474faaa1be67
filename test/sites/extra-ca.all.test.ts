import { describe, expect, it } from 'vitest';
import { createEgress } from '../../core/egress/create-egress.ts';
import { createResolver } from '../../core/resolve/create-resolver.ts';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { createMemoryState } from '../core/resolve/memory-state.ts';
import { html, sendFile } from '../origin/respond.ts';
import { afterFile } from '../support/after-file.ts';
import { asProblem } from '../support/as-problem.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { ytDlpWithCurlCffi } from '../support/installed-tools.ts';
import type { Site } from './site.ts';
import { startSites } from './start-sites.ts';

const ytDlp = await ytDlpWithCurlCffi();

const PAGE = 'https://site.example/page';
const site: Site = {
  hosts: ['site.example'],
  handle: async (exchange) => {
    if (exchange.path === '/page') html(exchange, '<video src="/clip.mp4"></video>');
    else await sendFile(exchange, 'clip.mp4');
  },
};
const sites = closeAfterwards(await startSites([site]));

/** Resolves the page of the site through an outgoing proxy. */
async function resolvePage({
  mode,
  impersonate,
  extraCaFile,
}: {
  mode?: YtDlp['mode'];
  impersonate?: string[];
  extraCaFile?: string;
}) {
  const lookup = async () => [{ address: '192.0.43.8', family: 4 }];
  const outgoingProxies = [await sites.proxyFor('127.0.0.1')];
  const egress = createEgress({ allow: [], outgoingProxies, lookup, extraCaFile });
  const { state } = createMemoryState();
  const tools = { ytDlp: () => ({ ...ytDlp, ...(mode && { mode }) }) };
  const resolver = createResolver({ tools, egress, state, impersonate, extraCaFile });
  afterFile(async () => {
    await resolver.close();
    await egress.close();
  });
  return asProblem(resolver.resolve(PAGE, { deadline: Date.now() + 55_000 }));
}

describe('EXTRA_CA_FILE', () => {
  it.each([
    ['the warm worker', {}],
    ['one process per link', { mode: 'process-per-link' as const }],
    ['a worker that imitates a browser', { impersonate: ['chrome'] }],
  ])('is trusted by %s', async (_, options) => {
    const resolved = await resolvePage({ ...options, extraCaFile: sites.caFile });
    expect(resolved).toMatchObject({ type: 'Media' });
  });

  it.each([
    ['the warm worker', {}],
    ['a worker that imitates a browser', { impersonate: ['chrome'] }],
  ])('is needed by %s', async (_, options) => {
    await expect(resolvePage(options)).rejects.toMatchObject({
      details: { status: 502, type: '/problems/site-error' },
    });
  });
});
