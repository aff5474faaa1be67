import { describe, expect, it } from 'vitest';
import { useToolsFakes } from './tools-fakes.ts';

const fakes = useToolsFakes();

describe('update', () => {
  it('switches to a newer version and keeps the previous two', async () => {
    const sources = [fakes.ytDlpFrom('A', '1.0')];
    const tools = fakes.open(sources);
    await tools.ensure();
    for (const version of ['2.0', '3.0', '4.0']) {
      sources[0] = fakes.ytDlpFrom('A', version);
      expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
      expect(tools.ytDlp()?.version).toBe(version);
    }
    expect(fakes.activities.at(-3)).toEqual({ name: 'Updating yt-dlp to 4.0', tool: 'yt-dlp', step: 'fetch' });
    expect(fakes.records.at(-1)?.ytDlp).toBe('4.0');
    expect(await fakes.storedVersions()).toEqual(['2.0', '3.0', '4.0', 'current']);
  });

  it.each(['1.0', '0.9'])('does nothing and reports nothing when %s is the newest', async (version) => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    fakes.reset();
    const tools = fakes.open([fakes.ytDlpFrom('A', version)]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect([fakes.events, fakes.activities]).toEqual([[], []]);
  });

  it('keeps the current version when the newer one fails its smoke test', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    fakes.broken.add('2.0');
    const tools = fakes.open([fakes.ytDlpFrom('A', '2.0')]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await fakes.storedVersions()).toEqual(['1.0', 'current']);
  });

  it('rejects an older version than the one the provider announced', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    const liar = { ...fakes.ytDlpFrom('A', '0.5'), findNewest: async () => '2.0' };
    const tools = fakes.open([liar]);
    expect(await tools.update()).toMatchObject({ ytDlp: true }); // installed above, found on disk
    expect(await tools.update()).toMatchObject({ ytDlp: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
  });

  it('downgrades to the version of an authoritative provider, and does nothing when it is current', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '2.0')]).ensure();
    const tools = fakes.open([{ ...fakes.ytDlpFrom('A', '1.0'), isAuthoritative: true }]);
    await tools.ensure();
    expect(await tools.update()).toEqual({ ytDlp: true, ffmpeg: false });
    expect(tools.ytDlp()?.version).toBe('1.0');
    expect(await tools.update()).toEqual({ ytDlp: false, ffmpeg: false });
    expect(await fakes.storedVersions()).toEqual(['1.0', '2.0', 'current']);
  });

  it('uses the version of the first provider that responds', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    const tools = fakes.open([
      fakes.ytDlpFrom('A', new Error('unreachable')),
      fakes.ytDlpFrom('B', '2.0'),
      fakes.ytDlpFrom('C', '3.0'),
    ]);
    await tools.update();
    expect(tools.ytDlp()?.version).toBe('2.0');
  });

  it('logs the reason of a failed update, and nothing when no version is newer', async () => {
    await fakes.open([fakes.ytDlpFrom('A', '1.0')]).ensure();
    fakes.broken.add('2.0');
    const failures: string[] = [];
    const onFailure = (reason: string) => void failures.push(reason);
    await fakes.open([fakes.ytDlpFrom('A', '1.0')], { onFailure }).update();
    await fakes.open([fakes.ytDlpFrom('A', new Error('away')), fakes.ytDlpFrom('B', '1.0')], { onFailure }).update();
    expect(failures).toEqual([]);
    await fakes.open([fakes.ytDlpFrom('A', '2.0')], { onFailure }).update();
    await fakes
      .open([fakes.ytDlpFrom('A', new Error('away')), fakes.ytDlpFrom('B', new Error('away too'))], { onFailure })
      .update();
    expect(failures).toEqual([
      'Update of yt-dlp to 2.0 failed, keeping 1.0: it does not work',
      'Update check of yt-dlp failed: A (away); B (away too)',
    ]);
  });

  it('loads and records a version that another process installs, without a call', async () => {
    const tools = fakes.open([fakes.ytDlpFrom('A', '1.0')], { reloadIntervalMs: 1 });
    await tools.ensure();
    await fakes.open([fakes.ytDlpFrom('A', '2.0')]).update();
    await expect.poll(() => tools.ytDlp()?.version).toBe('2.0');
    await expect.poll(() => fakes.records.filter(({ ytDlp }) => ytDlp === '2.0')).toHaveLength(2);
  });
});
