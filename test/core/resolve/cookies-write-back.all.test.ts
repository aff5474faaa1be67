import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import { ensureMedia } from '../../origin/media.ts';
import { html, send, sendFile } from '../../origin/respond.ts';
import type { Site } from '../../sites/site.ts';
import { startSites } from '../../sites/start-sites.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createMemoryState } from './memory-state.ts';

const mediaDir = await ensureMedia();
const ATTRIBUTES = 'Domain=site.example; Path=/; Secure; Max-Age=31536000';
/** Each page sets other cookies: a session that counts up, and what else a site may answer. */
const COOKIES: Readonly<Record<string, (next: number) => string[]>> = {
  '/page': (next) => [`sid=${next}; ${ATTRIBUTES}`, `visitor=1; ${ATTRIBUTES}`, 'sid=9; Domain=other.example; Path=/'],
  '/logout': () => ['sid=; Domain=site.example; Path=/; Max-Age=0', `theme=light; ${ATTRIBUTES}`],
  '/missing': (next) => [`sid=${next}; ${ATTRIBUTES}`],
};
const sent: string[] = [];
const site: Site = {
  hosts: ['site.example'],
  handle: async (exchange) => {
    const { path, request, response } = exchange;
    const cookies = COOKIES[path];
    if (!cookies) return sendFile({ ...exchange, mediaDir }, 'clip.mp4');
    sent.push(request.headers.cookie ?? '');
    response.setHeader('set-cookie', cookies(Number(/sid=(\d+)/.exec(sent.at(-1) ?? '')?.[1]) + 1));
    if (path === '/missing') send(exchange, 'text/plain', '', 404);
    else html(exchange, '<video src="/clip.mp4"></video>');
  },
};

const sites = await startSites([site]);
const dir = await temporaryFolder();
const row = (domain: string, name: string, value: string) => `${domain}\tTRUE\t/\tTRUE\t2000000000\t${name}\t${value}`;
const write = async (name: string, rows: readonly string[]) => {
  await writeFile(join(dir, name), ['# Netscape HTTP Cookie File', ...rows, ''].join('\n'));
  return join(dir, name);
};
const cookiesDir = [
  await write('other.example.txt', [row('.other.example', 'sid', '1')]),
  await write('site.example.txt', [row('.site.example', 'sid', '1'), row('.site.example', 'theme', 'dark')]),
];
const { ytDlp } = await installedTools();
const egress = createEgress({
  allow: [],
  outgoingProxies: [await sites.proxyFor('127.0.0.1')],
  lookup: async () => [{ address: '192.0.43.8', family: 4 }],
  extraCaFile: sites.caFile,
});
const resolver = createResolver({
  tools: { ytDlp: () => ytDlp },
  egress,
  state: createMemoryState().state,
  cookiesDir,
  cookiesWriteBack: true,
  extraCaFile: sites.caFile,
});
afterAll(async () => {
  await resolver.close();
  await egress.close();
  await sites.close();
});

const resolve = (path: string) => resolver.resolve(`https://site.example${path}`, { deadline: Date.now() + 150_000 });
const valuesOf = async (file = '') =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split('\t').slice(5).join('='));

it('writes the session that a site replaces into its file, and sends it with the next link', async () => {
  await resolve('/page?1');
  await resolve('/page?2');
  expect(sent).toEqual([expect.stringContaining('sid=1'), expect.stringContaining('sid=2')]);
  expect(await Promise.all(cookiesDir.map(valuesOf))).toEqual([['sid=1'], ['sid=3', 'theme=dark']]);
});

it('writes nothing when a response ends the session, or when the link fails', async () => {
  await resolve('/logout');
  await expect(resolve('/missing')).rejects.toThrow();
  expect(sent.at(-1)).toContain('sid=3');
  expect(await Promise.all(cookiesDir.map(valuesOf))).toEqual([['sid=1'], ['sid=3', 'theme=dark']]);
});
