import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { ffmpegFromPypi } from '../../../layers/tools/ffmpeg/ffmpeg-providers.ts';
import { createTools } from '../../../layers/tools/install/create-tools.ts';
import { smokeTestYtDlp } from '../../../layers/tools/runner/smoke-test.ts';
import type { Activity } from '../../../layers/tools/tools.ts';
import { openTestProxySession } from '../../support/proxy-session.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Installs from the first provider that this machine reaches, as a first start does. */
const dir = await temporaryFolder();
const egress = createEgress({ allow: [] });
afterAll(() => egress.close());

const open = (report: (activity: Activity) => void) =>
  createTools({
    ...{ dir, channel: 'stable', onActivity: report },
    download: (url, options) => egress.request(url, options),
    smokeTest: (candidate) => smokeTestYtDlp(candidate, { openProxy: openTestProxySession }),
    record: async () => undefined,
  });

describe('a fresh machine', () => {
  it('installs both tools, and finds them at the next start', { timeout: 300_000 }, async () => {
    const activities: string[] = [];
    const tools = open(({ name }) => activities.push(name));
    await tools.ensure();
    const [ytDlp, ffmpeg] = [tools.ytDlp(), tools.ffmpeg()];
    await tools.close();
    const [program = '', ...before] = ytDlp?.command ?? [];
    expect(
      spawnSync(program, [...before, '--version'], { env: {} })
        .stdout.toString()
        .trim(),
    ).toBe(ytDlp?.version);
    expect(spawnSync(ffmpeg?.path ?? '', ['-version'], { env: {} }).stdout.toString()).toContain(ffmpeg?.version);
    expect(activities).toContain('Downloading yt-dlp');

    activities.length = 0;
    const again = open(({ name }) => activities.push(name));
    await again.ensure();
    expect([again.ytDlp(), again.ffmpeg(), activities]).toEqual([ytDlp, ffmpeg, []]);
    await again.close();
  });

  it('installs FFmpeg from PyPI when the system has none', { timeout: 300_000 }, async () => {
    const folder = join(dir, 'ffmpeg-from-pypi');
    await mkdir(folder);
    const options = { signal: new AbortController().signal, onBytes: () => undefined };
    const { path, buildId } = (await ffmpegFromPypi().fetch(folder, options))(folder);
    expect(spawnSync(path, ['-version'], { env: {} }).status).toBe(0);
    expect(buildId).toMatch(/^[0-9a-f]{32}$/);
  });
});
