import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../core/config/settings.ts';
import { certificateFile } from '../../../packages/guarded-fetch/test/certificate.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const certificate = await readFile(certificateFile, 'utf8');
const dir = await temporaryFolder();

const read = (file: string) => readSettings({ EXTRA_CA_FILE: file }).extraCaFile;
const write = async (text: string): Promise<string> => {
  const file = join(dir, 'ca.pem');
  await writeFile(file, text);
  return file;
};

describe('EXTRA_CA_FILE', () => {
  it('becomes an absolute path', async () => {
    const file = await write(`# Two\n${certificate}\n${certificate}`);
    expect(read(relative(process.cwd(), file))).toBe(file);
  });

  it.each([
    ['without certificates', 'text', /has none$/],
    ['with a certificate that is cut off', certificate.replace(/\n.{64}\n/, '\n'), /cannot be read \(\w+\)$/],
  ])('rejects a file %s in one line', async (_, text, message) => {
    const file = await write(text);
    expect(() => read(file)).toThrow(/^EXTRA_CA_FILE must be a PEM file of certificates: .+$/);
    expect(() => read(file)).toThrow(message);
  });
});
