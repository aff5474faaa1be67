import { describe, expect, it } from 'vitest';
import { openOwnService } from '../contract/target.ts';
import { expectShortTurns } from '../support/event-loop-turns.ts';
import { descendantsOf } from '../support/processes.ts';
import { sendRequest } from '../support/request.ts';
import { HOSTILE_LINKS, serveHostileLinks } from './hostile-links.ts';

const mounts = { '/hostile/': serveHostileLinks() };
// Lists are longer than any limit: fewer of their entries are resolved before they are cut.
const { origin, service } = await openOwnService({ mounts, settings: { playlistLimit: 20 } });

const resolve = (path: string) =>
  sendRequest(`${service.baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(origin.url(path))}`);

describe('a hostile link', () => {
  it.each(HOSTILE_LINKS)('$name is answered with one of $statuses', async ({ name, statuses }) => {
    const { status, body } = await expectShortTurns((attempt) => resolve(`/hostile/${name}?attempt=${attempt}`));
    expect(statuses, body.toString('utf8', 0, 300)).toContain(status);
    expect(body.length).toBeLessThan(2_000_000);
    expect(body.toString()).not.toMatch(/root:|169\.254/);
  });
});

describe('after all hostile links', () => {
  it('the service resolves and streams as before', async () => {
    const { status, body } = await resolve('/files/clip.mp4');
    expect(status).toBe(200);
    const { bestQualityKey: key } = JSON.parse(body.toString()).mediaItems[0].video;
    const stream = await sendRequest(`${service.baseUrl}/api/Stream/Media/${key}`);
    expect(stream.status).toBe(200);
    expect(stream.body.equals((await sendRequest(origin.url('/files/clip.mp4'))).body)).toBe(true);
  });

  it('no process and no connection of them remains', async () => {
    // The worker of yt-dlp with a fork in reserve, and the process of the probe, stay for the next link.
    await expect
      .poll(async () => (await descendantsOf(process.pid)).length, { timeout: 60_000 })
      .toBeLessThanOrEqual(4);
    await expect.poll(() => origin.connections, { timeout: 60_000 }).toBe(0);
  });
});
