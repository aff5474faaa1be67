import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFile, chmod, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { findObstacles, finishRelease, verifyRelease } from '../../scripts/release/finish.ts';
import { makeRelease, type Release } from '../../scripts/release/make-release.ts';
import { readSigned, signStatement } from '../../scripts/release/provenance.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const git = async (repository: string, ...args: string[]) => (await run('git', ['-C', repository, ...args])).stdout;

/** A clone of the last commit. */
async function clone(): Promise<string> {
  const dir = join(await temporaryFolder(), 'clone');
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, dir]);
  await git(dir, 'config', 'user.name', 'Test');
  await git(dir, 'config', 'user.email', 'test@example.org');
  return dir;
}

const make = (repository: string, outDir: string): Promise<Release> =>
  makeRelease({ repository, outDir, architecture: 'amd64', builder: 'urn:test:builder' });

const keys = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
};

describe('a release', () => {
  let repository: string;
  let outDir: string;
  let release: Release;
  beforeAll(async () => {
    [repository, outDir] = [await clone(), join(await temporaryFolder(), 'release')];
    release = await make(repository, outDir);
  });
  const read = async (end: string) => {
    const name = (await readdir(outDir)).find((each) => each.endsWith(end)) ?? '';
    return readFile(join(outDir, name));
  };

  it('is the same in another folder, at another time, with other settings and a changed work tree', async () => {
    const other = await clone();
    await git(other, 'config', 'tar.umask', '0077');
    await appendFile(join(other, 'README.md'), 'changed');
    await writeFile(join(other, 'untracked'), '');
    await chmod(join(other, 'package.json'), 0o600);
    await utimes(join(other, 'package.json'), 1, 1);
    const { TZ } = process.env;
    process.env.TZ = 'Pacific/Auckland';
    try {
      expect((await make(other, join(await temporaryFolder(), 'elsewhere'))).files).toEqual(release.files);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('has an archive of the commit, with its time and no owners', async () => {
    const tar = gunzipSync(await read('.tar.gz'));
    const file = join(outDir, 'plain.tar');
    await writeFile(file, tar);
    const { stdout } = await run('tar', [
      '--list',
      '--verbose',
      '--utc',
      '--full-time',
      '--numeric-owner',
      '--file',
      file,
    ]);
    const rows = stdout.trim().split('\n');
    const names = rows.map((row) => row.split(/\s+/).slice(5).join(' '));
    const files = (await git(repository, 'ls-files')).trim().split('\n');
    const prefix = `reelay-${release.commit.version}/`;
    expect(names.filter((name) => !name.endsWith('/')).sort()).toEqual(files.map((name) => `${prefix}${name}`).sort());
    const time = new Date(release.commit.epochSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
    for (const row of rows) expect(row).toMatch(new RegExp(` 0/0 +\\d+ ${time} `));
  });

  it('has the client package with its code and the version of the service', async () => {
    const file = join(outDir, `reelay-client-${release.commit.version}.tgz`);
    const names = (await run('tar', ['-tzf', file])).stdout.split('\n');
    expect(names).toEqual(
      expect.arrayContaining(['package/lib/index.js', 'package/lib/index.d.ts', 'package/LICENSE']),
    );
    const { stdout } = await run('tar', ['-xzOf', file, 'package/package.json']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'reelay-client', version: release.commit.version });
  });

  it('has a bill of materials with every package that runs, and none that only tests', async () => {
    const sbom = JSON.parse((await read('.cdx.json')).toString());
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      serialNumber: expect.stringMatching(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      metadata: { component: { name: 'reelay', version: release.commit.version } },
    });
    const names = sbom.components.map(({ name }: { name: string }) => name);
    const { dependencies } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    for (const name of ['vitest', 'typescript', 'aws-cdk-lib']) expect(names).not.toContain(name);
  });

  it('has a provenance that names its files, its commit and its builder', async () => {
    const statement = JSON.parse((await read('.provenance.json')).toString());
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          externalParameters: { version: release.commit.version, container: false },
          internalParameters: { SOURCE_DATE_EPOCH: release.commit.epochSeconds },
          resolvedDependencies: [{ digest: { gitCommit: release.commit.id } }, { name: 'package-lock.json' }],
        },
        runDetails: { builder: { id: 'urn:test:builder' } },
      },
    });
    const [archive, sbom, client] = release.files;
    expect(statement.subject).toEqual(
      [archive, sbom, client].map((file) => ({ name: file?.name, digest: { sha256: file?.sha256 } })),
    );
    // Nothing of this machine.
    expect(JSON.stringify(statement)).not.toContain(ROOT);
  });

  it('has sums that sha256sum verifies', async () => {
    await expect(run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: outDir })).resolves.toBeDefined();
  });

  it('is signed and tagged only when it is final, and verified by its public key', async () => {
    const { publicKey, privateKey } = keys();
    expect(await git(repository, 'tag')).toBe('');
    const name = await finishRelease(release, { repository, dir: outDir, key: privateKey });
    const envelope = await readFile(join(outDir, name), 'utf8');
    expect(await git(repository, 'tag')).toBe(`v${release.commit.version}\n`);
    expect(await verifyRelease(outDir, envelope, publicKey)).toEqual(
      release.files.slice(0, 3).map((file) => file.name),
    );
    await expect(verifyRelease(outDir, envelope, keys().publicKey)).rejects.toThrow('no signature of this key');
    await expect(verifyRelease(await temporaryFolder(), envelope, publicKey)).rejects.toThrow(
      'contains no signed file',
    );
    await appendFile(join(outDir, release.files[0]?.name ?? ''), 'x');
    await expect(verifyRelease(outDir, envelope, publicKey)).rejects.toThrow('is not the file that was signed');
  });
});

describe('findObstacles', () => {
  it('names changes, a missing section of the changelog, and a tag of another commit', async () => {
    const repository = await clone();
    expect(await findObstacles(repository)).toEqual([]);
    await git(repository, 'tag', 'v9.9.9');
    await writeFile(join(repository, 'package.json'), JSON.stringify({ version: '9.9.9' }));
    expect(await findObstacles(repository)).toEqual([expect.stringContaining('work tree')]);
    await git(repository, 'commit', '--quiet', '--all', '--message', 'Next');
    expect(await findObstacles(repository)).toEqual([
      expect.stringContaining('"## 9.9.9"'),
      expect.stringContaining('v9.9.9 is another commit'),
    ]);
  });
});

describe('a signed statement', () => {
  it('is refused when its content was changed', () => {
    const { publicKey, privateKey } = keys();
    const statement = JSON.stringify({ subject: [{ name: 'a', digest: { sha256: '00' } }] });
    const envelope = JSON.parse(signStatement(statement, privateKey));
    expect(readSigned(JSON.stringify(envelope), publicKey)).toEqual([{ name: 'a', sha256: '00' }]);
    const payload = Buffer.from(statement.replace('00', '11')).toString('base64');
    expect(() => readSigned(JSON.stringify({ ...envelope, payload }), publicKey)).toThrow('no signature');
  });

  it('may be signed by an elliptic curve', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const envelope = signStatement('{"subject":[]}', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    expect(readSigned(envelope, publicKey.export({ type: 'spki', format: 'pem' }) as string)).toEqual([]);
  });
});
