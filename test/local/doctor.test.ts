import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { type Finding, formatFinding } from '../../local/doctor/finding.ts';
import { checkCookies, checkMemory, checkMetricsPort, checkPlugins, checkPort } from '../../local/doctor/machine.ts';
import { checkClock, checkExposure, checkTokenProvider } from '../../local/doctor/network.ts';
import { checkNode, checkPython, checkSandboxes, checkYtDlp, describeSandboxes } from '../../local/doctor/programs.ts';
import { runChecks } from '../../local/doctor/run-checks.ts';
import { startService } from '../../local/service.ts';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { installedTools } from '../support/installed-tools.ts';
import { listen } from '../support/listen.ts';
import { ytDlpWithoutScripts } from '../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const root = await temporaryFolder();
const { ytDlp, ffmpeg } = await installedTools();
const toolsDir = await createToolsFolder(join(root, 'tools'));
const origin = closeAfterwards(await startOrigin());

let folders = 0;
const environmentWith = (more: Record<string, string> = {}) => ({
  ...{ DATA_DIR: join(root, String(folders++)), PORT: '0', EGRESS_ALLOW: origin.host, TOOLS_UPDATE_HOURS: '0' },
  ...more,
});
async function findingsOf(environment: Record<string, string>, unknownVariables: string[] = []): Promise<Finding[]> {
  const findings: Finding[] = [];
  const checks = runChecks({ environment, unknownVariables, referenceUrl: origin.url('/files/clip.mp4') });
  for await (const finding of checks) findings.push(finding);
  return findings;
}
const on = (subject: string, findings: readonly Finding[]) => findings.filter((finding) => finding.subject === subject);

describe('runChecks', () => {
  it('finds no problem on a new machine, and creates nothing', async () => {
    const findings = await findingsOf(environmentWith());
    expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
    expect(on('Data folder', findings)).toMatchObject([{ text: expect.stringMatching(/will be created$/) }]);
    expect(on('Tools', findings)).toMatchObject([{ text: expect.stringContaining('not installed yet') }]);
    expect(on('Clock', findings)).toMatchObject([{ severity: 'ok' }]);
  });

  it('stops at an invalid setting, which it names', async () => {
    const findings = await findingsOf({ PORT: 'eighty' });
    expect(findings.at(-1)).toMatchObject({ severity: 'problem', text: expect.stringMatching(/^PORT must be/) });
    expect(on('Port', findings)).toEqual([]);
  });

  it('names variables of .env that are no setting', async () =>
    expect(on('Settings', await findingsOf(environmentWith(), ['PROT']))).toMatchObject([
      { severity: 'warning', text: expect.stringContaining('PROT') },
    ]));

  it('runs the tools that are installed, and checks the cookies of each site', async () => {
    const dir = join(root, 'cookies');
    await mkdir(dir);
    const cookiesOf = (expires: number) =>
      `# Netscape HTTP Cookie File\n.site.example\tTRUE\t/\tTRUE\t${expires}\tname\tvalue\n`;
    await writeFile(join(dir, 'a.example.txt'), cookiesOf(0), { mode: 0o600 });
    await writeFile(join(dir, 'b.example.txt'), cookiesOf(1), { mode: 0o600 });
    const more = { TOOLS_DIR: toolsDir, COOKIES_DIR: dir, IMPERSONATE: 'chrome' };
    const findings = await findingsOf(environmentWith(more));
    expect(on('Sandbox', findings)).toHaveLength(process.platform === 'linux' ? 1 : 0);
    expect(on('Tools', findings)).toMatchObject([
      { severity: 'ok', text: `FFmpeg ${ffmpeg.version} (${ffmpeg.source})` },
      {
        severity: 'ok',
        text: `yt-dlp ${ytDlp.version} (${ytDlp.source}) resolves a link; its JavaScript runtime is Node ${process.versions.node}`,
      },
      { severity: 'problem', text: expect.stringContaining('lacks curl_cffi') },
    ]);
    expect(on('Cookies', findings)).toMatchObject([
      { severity: 'ok', text: expect.stringContaining('a.example.txt') },
      { severity: 'problem', text: expect.stringMatching(/b\.example\.txt has expired/) },
    ]);
  });

  it('reports a yt-dlp of the system without the scripts that YouTube needs', async () =>
    expect(await checkYtDlp(ytDlpWithoutScripts({ ...ytDlp, source: 'system' }))).toEqual({
      severity: 'warning',
      subject: 'Tools',
      text: expect.stringMatching(
        / lacks what YouTube needs \(yt-dlp-ejs is missing .*\): install the package yt-dlp-ejs /,
      ),
    }));

  it('reports tools that are missing from a folder in use', async () => {
    const dir = join(root, 'empty');
    await mkdir(dir);
    expect(on('Tools', await findingsOf(environmentWith({ TOOLS_DIR: dir })))).toMatchObject([
      { severity: 'problem', text: expect.stringMatching(/^no FFmpeg .*update-tools$/) },
      { severity: 'problem', text: expect.stringMatching(/^no yt-dlp .*update-tools$/) },
    ]);
  });

  it('tells a running service from another program on the port', async () => {
    const environment = environmentWith({ TOOLS_DIR: toolsDir });
    const service = await startService({ settings: readSettings(environment), hasPage: false });
    const { port } = new URL(service.baseUrl);
    expect(await checkPort({ host: '127.0.0.1', port: Number(port) })).toMatchObject({
      severity: 'ok',
      text: `a service runs at 127.0.0.1:${port}`,
    });
    await service.close();

    const other = await listen(createServer((_, response) => response.end('hello')));
    expect(await checkPort({ host: '127.0.0.1', port: other.port })).toMatchObject({
      severity: 'problem',
      text: expect.stringContaining('is taken'),
    });
    await other.close();
  });

  it('names the outgoing proxy that does not work by its position, without its password', async () => {
    const { port, close } = await listen(createServer());
    await close();
    const findings = await findingsOf(environmentWith({ OUTGOING_PROXIES: `http://user:secret@127.0.0.1:${port}` }));
    expect(on('Outgoing', findings)).toMatchObject([
      { severity: 'problem', text: expect.stringContaining('by outgoing proxy 1') },
    ]);
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  it('names the source address that is not of this machine', async () => {
    const findings = await findingsOf(environmentWith({ SOURCE_ADDRESSES: '127.0.0.2,192.0.2.1' }));
    expect(on('Outgoing', findings)).toMatchObject([
      { severity: 'ok', text: expect.stringMatching(/ from 127\.0\.0\.2$/) },
      { severity: 'problem', text: expect.stringMatching(/ from 192\.0\.2\.1 .*SOURCE_ADDRESSES/) },
    ]);
  });

  it('reports a data folder that is a file or readable for other users', async () => {
    const file = join(root, 'file');
    await writeFile(file, '');
    expect(on('Data folder', await findingsOf(environmentWith({ DATA_DIR: join(file, 'data') })))).toMatchObject([
      { severity: 'problem', text: `${file} is not a folder` },
    ]);
    const open = join(root, 'open');
    await mkdir(open);
    await chmod(open, 0o755);
    expect(on('Data folder', await findingsOf(environmentWith({ DATA_DIR: open })))).toMatchObject([
      { severity: 'warning', text: expect.stringContaining('chmod 700') },
    ]);
  });
});

describe('single checks', () => {
  it('report the port of metrics that is taken', async () => {
    expect(await checkMetricsPort(readSettings({}))).toEqual([]);
    const other = await listen(createServer((_, response) => response.end('hello')));
    const settings = readSettings({ METRICS_PORT: String(other.port) });
    expect(await checkMetricsPort(settings)).toMatchObject([
      { severity: 'problem', text: expect.stringContaining('set METRICS_HOST or METRICS_PORT') },
    ]);
    await other.close();
    expect(await checkMetricsPort(settings)).toMatchObject([{ severity: 'ok' }]);
  });

  it('report plugins that other users can change', async () => {
    const dir = join(root, 'plugins');
    await mkdir(join(dir, 'provider', 'yt_dlp_plugins'), { recursive: true });
    await chmod(join(dir, 'provider'), 0o755);
    const settings = readSettings({ YT_DLP_PLUGINS: dir });
    expect(await checkPlugins(readSettings({}))).toEqual([]);
    expect(await checkPlugins(settings)).toMatchObject([{ severity: 'ok', text: `${dir}: provider` }]);
    await chmod(join(dir, 'provider'), 0o777);
    expect(await checkPlugins(settings)).toMatchObject([
      { severity: 'warning', text: expect.stringMatching(/provider, .* chmod go-w$/) },
    ]);
  });

  it('report whether the plugin and the server of a PO token provider are in place', async () => {
    let answer = '{"version":"2.0.2"}';
    const { port, close } = await listen(
      createServer((request, response) => response.writeHead(request.url === '/ping' ? 200 : 404).end(answer)),
    );
    const url = `http://127.0.0.1:${port}`;
    const ytDlpExtractorArgs = [`youtubepot-bgutilhttp:base_url=${url}/`];
    const folderOf = async (...names: string[]) => {
      const dir = await temporaryFolder();
      for (const name of names) await writeFile(join(dir, name), '');
      return { ytDlpPlugins: dir, ytDlpExtractorArgs };
    };
    const both = await folderOf('bgutil_ytdlp_pot_provider-2.0.2-py3-none-any.whl');
    const other = await folderOf('bgutil_ytdlp_pot_provider-1.3.1-py3-none-any.whl');
    expect(await checkTokenProvider(readSettings({}))).toEqual([]);
    expect(await checkTokenProvider({ ...(await folderOf('other.zip')), ytDlpExtractorArgs: [] })).toEqual([]);
    expect(await checkTokenProvider(await folderOf('other.zip'))).toMatchObject([
      { severity: 'problem', text: expect.stringContaining('put its wheel into') },
    ]);
    expect(await checkTokenProvider(both)).toMatchObject([
      { severity: 'ok', text: expect.stringContaining('2.0.2 answers') },
    ]);
    expect(await checkTokenProvider(other)).toMatchObject([
      { severity: 'warning', text: expect.stringContaining('its plugin 1.3.1') },
    ]);
    answer = 'something else';
    const silent = [{ severity: 'problem', text: expect.stringContaining('does not answer') }];
    expect(await checkTokenProvider(both)).toMatchObject(silent);
    await close();
    expect(await checkTokenProvider(both)).toMatchObject(silent);
  });

  it('reports a clock that is off by more than a minute', () => {
    expect(checkClock(100_000, 159_000).severity).toBe('ok');
    expect(checkClock(100_000, 200_000)).toMatchObject({
      severity: 'problem',
      text: expect.stringMatching(/^100 s ahead/),
    });
    expect(checkClock(200_000, 100_000)).toMatchObject({
      severity: 'problem',
      text: expect.stringMatching(/^100 s behind/),
    });
  });

  it('warns of an instance that is open to its network', () => {
    const exposure = (more: Record<string, string>) => checkExposure(readSettings(more)).severity;
    expect(exposure({})).toBe('ok');
    expect(exposure({ HOST: '::1' })).toBe('ok');
    expect(exposure({ HOST: '0.0.0.0' })).toBe('warning');
    expect(exposure({ HOST: '0.0.0.0', TRUSTED_PROXIES: '1' })).toBe('ok');
    expect(exposure({ HOST: '0.0.0.0', ACCESS_KEYS: 'k'.repeat(24) })).toBe('ok');
  });

  it('reports cookies that have expired, are missing or readable for other users', async () => {
    const file = join(root, 'cookies.txt');
    const cookie = (expires: number) => `.site.example\tTRUE\t/\tTRUE\t${expires}\tname\tvalue`;
    const check = async (rows: readonly string[], mode = 0o600) => {
      await writeFile(file, ['# Netscape HTTP Cookie File', '# comment', ...rows, ''].join('\n'));
      await chmod(file, mode);
      return checkCookies(file, 1000);
    };
    expect(checkCookies(undefined)).toBeUndefined();
    expect(await check([])).toMatchObject({ severity: 'problem' });
    expect(await check([cookie(999)])).toMatchObject({ severity: 'problem', text: expect.stringContaining('expired') });
    expect(await check([cookie(999), `#HttpOnly_${cookie(0)}`, cookie(1001)])).toMatchObject({
      severity: 'ok',
      text: expect.stringMatching(/^2 of 3/),
    });
    expect(await check([cookie(0)], 0o644)).toMatchObject({ severity: 'warning' });
  });

  it('warns of another Node, little memory and a missing Python', async () => {
    expect(checkNode('20.0.0').severity).toBe('warning');
    expect(checkMemory(2 ** 28).severity).toBe('warning');
    expect(await checkPython({ PATH: root })).toMatchObject({
      severity: 'warning',
      text: expect.stringMatching(/^there is no Python/),
    });
  });

  it('are printed in columns', () =>
    expect(formatFinding({ severity: 'ok', subject: 'Port', text: 'free' })).toBe('ok       Port           free'));
});

describe('checkSandboxes', () => {
  const all = { landlock: 7, seccomp: true };

  it.each([
    [all, all, 'ok', 'FFmpeg reads no files, yt-dlp only its own and it connects to its proxy alone'],
    [all, undefined, 'ok', 'FFmpeg reads no files'],
    [{ ...all, hasFiles: false }, all, 'warning', /^FFmpeg can read files of this user: .* no libraries of its own$/],
    [undefined, all, 'warning', /^FFmpeg runs without a sandbox: there is no Perl/],
    [{ landlock: 0, seccomp: false }, all, 'warning', /^FFmpeg runs without a sandbox: the kernel has neither/],
    [
      all,
      { ...all, landlock: 0 },
      'warning',
      /^yt-dlp can read files .*Linux 5\.13.*; .* egress guard: needs Linux 6\.7$/,
    ],
    [
      all,
      { landlock: 4, seccomp: false },
      'warning',
      /^yt-dlp can signal .*Linux 6\.12; system calls of yt-dlp are not/,
    ],
    [all, { ...all, seccomp: false }, 'warning', 'system calls of yt-dlp are not filtered'],
  ] as const)('names what is missing of FFmpeg (%o) and yt-dlp (%o)', (ffmpegSandbox, ytDlpSandbox, severity, text) => {
    const expected = text instanceof RegExp ? expect.stringMatching(text) : text;
    expect(describeSandboxes(ffmpegSandbox, ytDlpSandbox)).toEqual({ subject: 'Sandbox', severity, text: expected });
  });

  it('is silent on systems without such a sandbox', async () =>
    expect(await checkSandboxes({ ffmpeg: ffmpeg.path, ytDlp: undefined }, 'darwin')).toEqual([]));
});
