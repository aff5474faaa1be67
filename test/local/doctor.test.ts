import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { type Finding, formatFindings } from '../../core/findings/index.ts';
import { checkExposure, runChecks } from '../../local/checks.ts';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { installedTools } from '../support/installed-tools.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const root = await temporaryFolder();
const { ytDlp, ffmpeg } = await installedTools();
const toolsDir = await createToolsFolder(join(root, 'tools'));
const origin = closeAfterwards(await startOrigin());

let folders = 0;
const environmentWith = (more: Record<string, string> = {}) => ({
  DATA_DIR: join(root, String(folders++)),
  PORT: '0',
  EGRESS_ALLOW: origin.host,
  TOOLS_UPDATE_HOURS: '0',
  ...more,
});
const findingsOf = (environment: Record<string, string>, unknownVariables: string[] = []): Promise<Finding[]> =>
  Array.fromAsync(runChecks({ environment, unknownVariables, referenceUrl: origin.url('/files/clip.mp4') }));
const on = (subject: string, findings: readonly Finding[]) => findings.filter((finding) => finding.subject === subject);
const problem = (text: RegExp) => ({ severity: 'problem', text: expect.stringMatching(text) });

/** What is found of a subject on a machine with these variables. */
const foundOn = async (subject: string, more: Record<string, string>) =>
  on(subject, await findingsOf(environmentWith(more)));

describe('runChecks', () => {
  it('finds no problem on a new machine, and creates nothing', async () => {
    const findings = await findingsOf(environmentWith());
    expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
    expect(on('Data folder', findings)).toMatchObject([{ text: expect.stringMatching(/will be created$/) }]);
    expect(on('Tools', findings)).toMatchObject([{ text: expect.stringContaining('not installed yet') }]);
    expect(on('Python', findings)).toMatchObject([{ text: expect.stringMatching(/^3\.|3\.11 or newer/) }]);
  });

  it('stops at an invalid setting, which it names', async () => {
    const findings = await findingsOf({ PORT: 'eighty' });
    expect(findings.at(-1)).toMatchObject(problem(/^PORT must be/));
    expect(on('Data folder', findings)).toEqual([]);
  });

  it('names variables of .env that are no setting', async () =>
    expect(on('Settings', await findingsOf(environmentWith(), ['PROT']))).toMatchObject([
      { severity: 'warning', text: expect.stringContaining('PROT') },
    ]));

  it('runs the tools that are installed', async () => {
    expect(await foundOn('Tools', { TOOLS_DIR: toolsDir })).toMatchObject([
      { severity: 'ok', text: `FFmpeg ${ffmpeg.version} (${ffmpeg.source})` },
      {
        severity: 'ok',
        text: `yt-dlp ${ytDlp.version} (${ytDlp.source}) resolves a link; its JavaScript runtime is Node ${process.versions.node}`,
      },
    ]);
  });

  it('reports tools that are missing from a folder in use', async () => {
    const dir = join(root, 'empty');
    await mkdir(dir);
    expect(await foundOn('Tools', { TOOLS_DIR: dir })).toMatchObject([
      problem(/^no FFmpeg .*update-tools$/),
      problem(/^no yt-dlp .*update-tools$/),
    ]);
  });

  it('does not wait for another process that installs the tools', async () => {
    const dir = join(root, 'installing');
    const done = Promise.withResolvers<void>();
    const { signal } = new AbortController();
    const installing = withLock(join(dir, 'install.lock'), () => done.promise, { signal });
    onTestFinished(async () => {
      done.resolve();
      await installing;
    });
    await expect.poll(() => existsSync(join(dir, 'install.lock'))).toBe(true);
    const findings = await findingsOf(environmentWith({ TOOLS_DIR: dir }));
    expect(on('Tools', findings)).toMatchObject([
      { severity: 'warning', text: 'another process installs them: ask again when it has ended' },
    ]);
    expect(on('Outgoing', findings)).toHaveLength(1);
  });

  it('names the outgoing proxy that does not work by its position, without its password', async () => {
    const { port, close } = await listen(createServer());
    await close();
    const findings = await findingsOf(environmentWith({ OUTGOING_PROXIES: `http://user:s3cret@127.0.0.1:${port}` }));
    expect(on('Outgoing', findings)).toMatchObject([problem(/by outgoing proxy 1/)]);
    expect(JSON.stringify(findings)).not.toContain('s3cret');
  });

  it('names the source address that is not of this machine', async () => {
    expect(await foundOn('Outgoing', { SOURCE_ADDRESSES: '127.0.0.2,192.0.2.1' })).toMatchObject([
      { severity: 'ok', text: expect.stringMatching(/ from 127\.0\.0\.2$/) },
      problem(/ from 192\.0\.2\.1 .*SOURCE_ADDRESSES/),
    ]);
  });

  it('reports a data folder that is a file or readable for other users', async () => {
    const file = join(root, 'file');
    await writeFile(file, '');
    expect(await foundOn('Data folder', { DATA_DIR: join(file, 'data') })).toMatchObject([
      { severity: 'problem', text: `${file} is not a folder` },
    ]);
    const open = join(root, 'open');
    await mkdir(open);
    await chmod(open, 0o755);
    expect(await foundOn('Data folder', { DATA_DIR: open })).toMatchObject([
      { severity: 'warning', text: expect.stringContaining('chmod 700') },
    ]);
  });
});

describe('single checks', () => {
  it.each([
    [{}, 'ok'],
    [{ HOST: '::1' }, 'ok'],
    [{ HOST: '0.0.0.0' }, 'warning'],
    [{ HOST: '0.0.0.0', TRUSTED_PROXIES: '1' }, 'ok'],
    [{ HOST: '0.0.0.0', ACCESS_KEYS: 'k'.repeat(24) }, 'ok'],
  ])('say of an instance with %j, which may be open to its network: %s', (settings, severity) =>
    expect(checkExposure(readSettings(settings)).severity).toBe(severity),
  );

  it('are printed in columns', () =>
    expect(formatFindings([{ severity: 'ok', subject: 'Port', text: 'free' }])).toBe('ok       Port           free'));
});
