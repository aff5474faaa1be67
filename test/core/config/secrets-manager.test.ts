import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSecretRenewal, readSettingsInAws } from '../../../core/config/settings.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

const PROXIES = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:proxies-a1b2c3';
const COOKIES = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-a1b2c3';

/** A service of secrets in place of that of AWS, until the test ends. @returns how often it was asked */
async function serveSecrets(values: Readonly<Record<string, string>>): Promise<() => number> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.setEncoding('utf8').once('data', (body) => {
      const SecretString = values[JSON.parse(body).SecretId];
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      response.statusCode = SecretString === undefined ? 400 : 200;
      response.end(JSON.stringify(SecretString === undefined ? { __type: 'AccessDenied' } : { SecretString }));
    });
  });
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', closeAfterwards(await listen(server)).url);
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'test');
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => requests;
}

it('readSettingsInAws reads both secrets from Secrets Manager and writes cookies to a file', async () => {
  const values: Readonly<Record<string, string>> = {
    [PROXIES]: 'http://proxy.example:3128',
    [COOKIES]: '# Netscape HTTP Cookie File',
  };
  await serveSecrets(values);

  const named = { OUTGOING_PROXIES_SECRET: PROXIES, COOKIES_SECRET: COOKIES };
  const { outgoingProxies, cookiesFile = '' } = await readSettingsInAws(named);
  onTestFinished(() => rm(dirname(cookiesFile), { recursive: true }));
  expect(outgoingProxies).toEqual(['http://proxy.example:3128']);
  expect(await readFile(cookiesFile, 'utf8')).toBe('# Netscape HTTP Cookie File');
  expect((await stat(cookiesFile)).mode & 0o077).toBe(0);
});

/** A cookies file. */
const cookiesOf = (value: string) =>
  `# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t9999999999\tname\t${value}\n`;

describe('createSecretRenewal', () => {
  const setUp = async (environment: Record<string, string>) => {
    const values: Record<string, string> = { [PROXIES]: 'http://one.example:3128', [COOKIES]: cookiesOf('one') };
    const requests = await serveSecrets(values);
    let settings: Awaited<ReturnType<typeof readSettingsInAws>> | undefined;
    onTestFinished(async () => {
      if (settings?.cookiesFile) await rm(dirname(settings.cookiesFile), { recursive: true });
    });
    settings = await readSettingsInAws(environment);
    let now = 0;
    const seen: string[] = [];
    const renew = createSecretRenewal(environment, {
      settings,
      replaceProxies: (urls) => {
        if (urls.includes('http://unfit.example:1')) throw new Error('a rule lacks its proxy');
        seen.push(`proxies ${urls}`);
      },
      renewCookies: () => void seen.push('cookies'),
      onError: (error) => void seen.push(String(error)),
      now: () => now,
    });
    const seenAfter = async (minutes: number) => {
      now += minutes * 60_000;
      await renew();
      return seen.splice(0);
    };
    return { seenAfter, settings, values, requests };
  };
  const BOTH = { OUTGOING_PROXIES_SECRET: PROXIES, COOKIES_SECRET: COOKIES };

  it('applies changed proxies and cookies within five minutes, each alone, and asks no more often', async () => {
    const { seenAfter, settings, values, requests } = await setUp(BOTH);
    values[PROXIES] = 'http://two.example:3128';
    expect(await seenAfter(3)).toEqual([]);
    expect(requests()).toBe(2);
    expect(await seenAfter(1)).toEqual(['proxies http://two.example:3128']);
    values[COOKIES] = cookiesOf('two');
    expect(await seenAfter(4)).toEqual(['cookies']);
    expect(await readFile(settings.cookiesFile ?? '', 'utf8')).toBe(cookiesOf('two'));
    expect((await stat(settings.cookiesFile ?? '')).mode & 0o077).toBe(0);
    expect(await seenAfter(4)).toEqual([]);
  });

  it('reports secrets that cannot be read or used, keeps the former ones, and tries again after a minute', async () => {
    const { seenAfter, settings, values } = await setUp(BOTH);
    delete values[PROXIES];
    expect(await seenAfter(4)).toEqual([expect.stringMatching(/OUTGOING_PROXIES_SECRET cannot be read/)]);
    values[PROXIES] = 'http://unfit.example:1';
    values[COOKIES] = cookiesOf('two');
    expect(await seenAfter(1)).toEqual([expect.stringContaining('a rule lacks its proxy')]);
    expect(await readFile(settings.cookiesFile ?? '', 'utf8')).toBe(cookiesOf('one'));
    values[PROXIES] = 'http://one.example:3128';
    expect(await seenAfter(1)).toEqual(['cookies']);
  });

  it('asks for nothing where no secret is named', async () => {
    const { seenAfter, requests } = await setUp({});
    expect(await seenAfter(60)).toEqual([]);
    expect(requests()).toBe(0);
  });
});
