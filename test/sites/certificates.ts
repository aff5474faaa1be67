import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CA = 'basicConstraints=critical,CA:TRUE';
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/**
 * Makes a certificate authority in `dir`, and a certificate for `hosts` that it has issued.
 * @returns the PEM file of the authority, and the key and the certificate of the hosts
 * @throws when there is no openssl
 */
export async function makeCertificates(dir: string, hosts: readonly string[]) {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: dir });
  await writeFile(join(dir, 'extensions'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}\n`);
  const usage = ['-addext', CA, '-addext', 'keyUsage=critical,keyCertSign'];
  await openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=Sites', ...usage, '-keyout', 'ca.key', '-out', 'ca.pem');
  await openssl('req', ...NEW_KEY, '-subj', '/CN=site', '-keyout', 'site.key', '-out', 'site.req');
  const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'extensions'];
  await openssl('x509', '-req', '-in', 'site.req', ...issuer, '-out', 'site.pem');
  const read = (name: string) => readFile(join(dir, name));
  return { caFile: join(dir, 'ca.pem'), key: await read('site.key'), cert: await read('site.pem') };
}
