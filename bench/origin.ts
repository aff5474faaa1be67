import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MEDIA_DIR } from './media.ts';
import { onExit } from './on-exit.ts';
import { type Server, startNginx } from './processes.ts';

export interface BenchOrigin extends Server {
  /** Describes an item at `/site/{name}` to the test extractor: which files it has. */
  publish(name: string, formats: readonly Format[], durationSeconds: number): Promise<void>;
}

export interface Format {
  readonly id: string;
  /** Path on the origin. */
  readonly path: string;
  readonly vcodec: string;
  readonly acodec: string;
  readonly bytes: number;
  readonly height?: number;
}

/** The same nginx feeds every rival, so that the source is never what differs. `/slow/` gives each connection 4 MB/s. */
export async function startBenchOrigin(): Promise<BenchOrigin> {
  const root = await mkdtemp(join(tmpdir(), 'bench-origin-'));
  await mkdir(join(root, 'site-api'));
  await symlink(MEDIA_DIR, join(root, 'media'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  const forget = onExit(remove);
  const nginx = await startNginx(`
    root ${root};
    location /site-api/ { default_type application/json; }
    location /slow/ { alias ${MEDIA_DIR}/; limit_rate 4m; }`);
  return {
    ...nginx,
    async publish(name, formats, durationSeconds) {
      const info = {
        id: name,
        title: name,
        uploader: 'Bench',
        duration: durationSeconds,
        formats: formats.map(({ id, path, vcodec, acodec, bytes, height }) => ({
          format_id: id,
          url: `${nginx.baseUrl}${path}`,
          ext: path.split('.').pop(),
          protocol: 'http',
          vcodec,
          acodec,
          height,
          filesize: bytes,
        })),
      };
      await writeFile(join(root, 'site-api', name), JSON.stringify({ info }));
    },
    close: async () => {
      await nginx.close();
      forget();
      remove();
    },
  };
}
