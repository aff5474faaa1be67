import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadDotEnv } from '../../local/process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = await temporaryFolder();
const file = join(root, '.env');

it('adds variables that are not set, and returns those that are no setting', async () => {
  await writeFile(file, '# comment\nPORT=8090\nHOST="0.0.0.0"\nexport SEARCH=true\nPROT=1\n');
  const environment = { HOST: '127.0.0.1' };
  expect(loadDotEnv(environment, file)).toEqual(['PROT']);
  expect(environment).toEqual({ HOST: '127.0.0.1', PORT: '8090', SEARCH: 'true', PROT: '1' });
});

it('reads a file with the byte order mark of Windows editors', async () => {
  await writeFile(file, '\uFEFFPORT=8090\r\nHOST=0.0.0.0\r\n');
  const environment = {};
  expect(loadDotEnv(environment, file)).toEqual([]);
  expect(environment).toEqual({ HOST: '0.0.0.0', PORT: '8090' });
});

it('needs no file', () => expect(loadDotEnv({}, join(root, 'missing'))).toEqual([]));

it('names a file that cannot be read', async () => {
  const folder = join(root, 'folder');
  await mkdir(folder);
  expect(() => loadDotEnv({}, folder)).toThrow(`${folder} cannot be read (EISDIR)`);
});
