import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkCookies } from './file-settings.ts';
import { proxyUrls, SettingError } from './parsers.ts';
import { readSettings, type Settings } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretSettingsOptions {
  /** The value of a secret by its ARN. */
  readonly fetchSecret: (arn: string) => Promise<string | undefined>;
  /** Writes cookies to a file that only this user can read; returns its path. */
  readonly writeCookies: (cookies: string) => Promise<string>;
}

/**
 * Adds the values of secrets to the environment that names them: `OUTGOING_PROXIES_SECRET` becomes `OUTGOING_PROXIES`,
 * `COOKIES_SECRET` becomes `COOKIES_FILE`.
 * @throws SettingError in one line that names the setting and contains no part of the secret
 */
export async function loadSecretSettings(
  environment: Environment,
  { fetchSecret, writeCookies }: SecretSettingsOptions,
): Promise<Environment> {
  const load = async (name: string): Promise<string | undefined> => {
    const arn = environment[name]?.trim();
    if (!arn) return undefined;
    const secret = await fetchSecret(arn).catch((cause) => {
      throw new SettingError(`${name} cannot be read: ${cause instanceof Error ? cause.name : 'it failed'}`, { cause });
    });
    if (!secret?.trim()) throw new SettingError(`${name} names a secret without text`);
    return secret;
  };
  const [proxies, cookies] = await Promise.all([load('OUTGOING_PROXIES_SECRET'), load('COOKIES_SECRET')]);
  // Validated here so that the error line names the variable of the secret.
  if (cookies) checkCookies('COOKIES_SECRET', Buffer.from(cookies));
  return {
    ...environment,
    // A secret may contain one proxy per line.
    ...(proxies && {
      OUTGOING_PROXIES: proxyUrls('OUTGOING_PROXIES_SECRET', proxies.replaceAll(/\s+/g, ',')).join(','),
    }),
    ...(cookies && { COOKIES_FILE: await writeCookies(cookies) }),
  };
}

/**
 * Reads the settings of a host in AWS, and the secrets that they name from Secrets Manager.
 * @throws SettingError in one line that names the setting
 */
export async function readSettingsInAws(environment: Environment): Promise<Settings> {
  return readSettings(
    await loadSecretSettings(environment, {
      fetchSecret: async (SecretId) => {
        // Imported on use: the service on one machine is installed without this client.
        const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
        const client = new SecretsManagerClient({ maxAttempts: 3 });
        try {
          return (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString;
        } finally {
          client.destroy();
        }
      },
      writeCookies: async (cookies) => {
        const file = join(await mkdtemp(join(tmpdir(), 'reelay-cookies-')), 'cookies.txt');
        await writeFile(file, cookies, { mode: 0o600 });
        return file;
      },
    }),
  );
}
