import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installPinnedPythonPackage } from '../support/python-packages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useTarget } from './target.ts';

const FOLDER = resolve(import.meta.dirname, 'schemathesis');
const REQUIREMENTS = resolve(FOLDER, 'requirements.txt');
const LINKS = ['/files/clip.mp4', '/site/list/schemathesis?n=2', '/plain/json', '/trouble/404', '/trouble/500'];

const target = useTarget();

/** Keys of a file, of a pair and of sound alone. */
async function existingKeys(): Promise<string[]> {
  const items = await Promise.all(['/files/clip.mp4', '/site/open/schemathesis'].map((link) => target.resolve(link)));
  return items.flatMap(({ resource }) => {
    const { video, audio } = resource.mediaItems[0] ?? expect.fail('No item');
    return [video?.bestQualityKey, audio?.bestQualityKey].filter((key) => typeof key === 'string');
  });
}

const runSchemathesis = (program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) =>
  new Promise<{ readonly isPassed: boolean; readonly output: string }>((done) =>
    execFile(program, args, { cwd, env }, (error, output) => done({ isPassed: error === null, output })),
  );

describe('the service, by the requests that schemathesis derives from the OpenAPI document', () => {
  it('answers as the document says', { timeout: 900_000 }, async () => {
    const python = await installPinnedPythonPackage('schemathesis', REQUIREMENTS);
    const folder = await temporaryFolder();
    const args = [
      ...['--config-file', resolve(FOLDER, 'schemathesis.toml'), 'run', '--no-color'],
      ...['--seed', '1', '--max-examples', '40', `${target.baseUrl}/swagger/v1/swagger.json`],
    ];
    const { isPassed, output } = await runSchemathesis(join(dirname(python), 'st'), args, folder, {
      PATH: process.env.PATH,
      HOME: folder,
      PYTHONPATH: FOLDER,
      PYTHONDONTWRITEBYTECODE: '1',
      EXISTING_KEYS: (await existingKeys()).join(),
      EXISTING_LINKS: LINKS.map((link) => target.origin.url(link)).join(),
    });
    expect(isPassed, output).toBe(true);
    const operations = Object.values(target.api.json.paths).flatMap((methods) => Object.values(methods)).length;
    expect(output).toMatch(new RegExp(`Tested: ${operations}\\n`));
  });
});
