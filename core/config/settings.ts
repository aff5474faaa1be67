import { mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkCookies } from './file-settings.ts';
import { oneMachineSettings } from './one-machine-settings.ts';
import { anyText, type Parser, proxyUrls, SettingError } from './parsers.ts';
import type { HostValues, Setting } from './setting.ts';
import { sharedSettings } from './shared-settings.ts';
import { checkProxyRules } from './site-rules.ts';

const serviceSettings = { ...sharedSettings, ...oneMachineSettings } as const;

/** The environment of a running host, read once and validated. All other code receives values as arguments. */
export type Settings = HostValues<typeof serviceSettings>;

/**
 * Reads the settings of a host from its environment. A blank variable counts as unset. The only files it opens are the
 * files of cookies, the folder of plugins and the file of access keys, so that an invalid one is reported before anything starts.
 * @throws SettingError in one line that names the variable
 */
export function readSettings(environment: Environment): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<Row>(serviceSettings)) values[name] = readRow(row, environment, values);
  const settings = values as Settings;
  checkProxyRules(serviceSettings.proxyRules.variable, settings.proxyRules, settings.outgoingProxies.length);
  const { userHeader, proxyAddresses, trustedProxies } = settings;
  if (userHeader !== undefined && (proxyAddresses.length === 0 || trustedProxies === 0))
    throw new SettingError(
      'USER_HEADER must be beside TRUSTED_PROXIES and PROXY_ADDRESSES: without them anyone could claim to be any user',
    );
  return settings;
}

/** The environment variables of a host. */
export const settingVariables = (): ReadonlySet<string> =>
  new Set(Object.values(serviceSettings).map(({ variable }) => variable));

interface SecretSettingsOptions {
  /** The value of a secret by its ARN. */
  readonly fetchSecret: (arn: string) => Promise<string | undefined>;
  /** Writes cookies to a file that only this user can read; returns its path. */
  readonly writeCookies: (cookies: string) => Promise<string>;
}

/**
 * Adds the values of secrets to the environment that names them: `OUTGOING_PROXIES_SECRET` becomes `OUTGOING_PROXIES`,
 * `COOKIES_SECRET` becomes `COOKIES_FILE`, `ACCESS_KEYS_SECRET` becomes `ACCESS_KEYS`.
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
  const [proxies, cookies, keys] = await Promise.all(
    ['OUTGOING_PROXIES_SECRET', 'COOKIES_SECRET', 'ACCESS_KEYS_SECRET'].map(load),
  );
  // Validated here so that the error line names the variable of the secret.
  if (cookies) checkCookies('COOKIES_SECRET', Buffer.from(cookies));
  return {
    ...environment,
    // A secret may contain one proxy per line.
    ...(proxies && {
      OUTGOING_PROXIES: proxyUrls('OUTGOING_PROXIES_SECRET', proxies.replaceAll(/\s+/g, ',')).join(','),
    }),
    ...(keys && {
      ACCESS_KEYS: keys
        .trim()
        .split(/[\s,]+/)
        .join(','),
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
      fetchSecret,
      writeCookies: async (cookies) =>
        writeCookiesFile(join(await mkdtemp(join(tmpdir(), 'reelay-cookies-')), 'cookies.txt'), cookies),
    }),
  );
}

/** The value of a secret in Secrets Manager, by its ARN or name. */
export async function fetchSecret(SecretId: string): Promise<string | undefined> {
  // Imported on use: the service on one machine is installed without this client.
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  try {
    return (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString;
  } finally {
    client.destroy();
  }
}

/** Replaces a file atomically: concurrent readers get the former or the new one, whole. @returns its path */
async function writeCookiesFile(file: string, cookies: string): Promise<string> {
  const next = `${file}.next`;
  await writeFile(next, cookies, { mode: 0o600 });
  await rename(next, file);
  return file;
}

interface SecretRenewalOptions {
  /** As `readSettingsInAws` returned them. */
  readonly settings: Pick<Settings, 'outgoingProxies' | 'cookiesFile'>;
  /** @throws Error when they cannot be used: the former ones stay */
  readonly replaceProxies: (urls: readonly string[]) => void;
  /** Called after the cookies file has changed. */
  readonly renewCookies: () => void;
  readonly onError: (error: unknown) => void;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** Secrets that are changed apply within five minutes: this, the time of a check, and the start of yt-dlp. */
const SECRET_AGE_MS = 4 * 60_000;
const RETRY_DELAY_MS = 60_000;

/**
 * Applies the secrets of an environment when they have changed since they were read.
 * @returns a function that reads them again if the last time is `SECRET_AGE_MS` ago. It never rejects: a secret that cannot be
 * read, or is not valid, is reported, and the former one stays
 */
export function createSecretRenewal(
  environment: Environment,
  { settings, replaceProxies, renewCookies, onError, now = Date.now }: SecretRenewalOptions,
): () => Promise<void> {
  const isNamed = Boolean(environment.OUTGOING_PROXIES_SECRET?.trim() || environment.COOKIES_SECRET?.trim());
  let proxies = settings.outgoingProxies;
  let nextAt = now() + SECRET_AGE_MS;
  let running: Promise<void> | undefined;

  const renew = async (): Promise<void> => {
    let cookies: string | undefined;
    const loaded = await loadSecretSettings(environment, {
      fetchSecret,
      writeCookies: async (text) => {
        cookies = text;
        return settings.cookiesFile ?? '';
      },
    });
    const { outgoingProxies } = readSettings(loaded);
    if (outgoingProxies.join() !== proxies.join()) {
      replaceProxies(outgoingProxies);
      proxies = outgoingProxies;
    }
    const { cookiesFile } = settings;
    if (cookies === undefined || cookiesFile === undefined) return;
    if ((await readFile(cookiesFile, 'utf8')) === cookies) return;
    await writeCookiesFile(cookiesFile, cookies);
    renewCookies();
  };

  return () => {
    if (!isNamed || now() < nextAt) return running ?? Promise.resolve();
    nextAt = now() + SECRET_AGE_MS;
    running = renew()
      .catch((error: unknown) => {
        nextAt = now() + RETRY_DELAY_MS;
        onError(error);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one environment variable; a blank one counts as unset. @throws SettingError in one line that names it */
export type Variable<T> = (environment: Environment) => T;

const text = anyText('text');

/** A variable without which the process does not start. */
export function required(name: string): Variable<string>;
export function required<T>(name: string, parse: Parser<T>): Variable<T>;
export function required(name: string, parse: Parser<unknown> = text): Variable<unknown> {
  return (environment) => {
    const value = environment[name]?.trim();
    if (!value) throw new SettingError(`${name} must be set`);
    return parse(name, value);
  };
}

/** A variable that may be absent, with the value that it then has. */
export function optional(name: string): Variable<string | undefined>;
export function optional(name: string, absent: string): Variable<string>;
export function optional<T>(name: string, absent: T, parse: Parser<T>): Variable<T>;
export function optional(name: string, absent?: unknown, parse: Parser<unknown> = text): Variable<unknown> {
  return (environment) => {
    const value = environment[name]?.trim();
    return value ? parse(name, value) : absent;
  };
}

/** The values of a table of variables. */
export type ValuesOf<Table extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]>;
};

/**
 * Reads the variables that the stack or AWS sets for one process. What an operator can set is in the settings table instead.
 * @throws SettingError in one line that names the first variable that is missing or invalid
 */
export const readVariables = <Table extends Readonly<Record<string, Variable<unknown>>>>(
  environment: Environment,
  table: Table,
): ValuesOf<Table> =>
  Object.fromEntries(Object.entries(table).map(([name, read]) => [name, read(environment)])) as ValuesOf<Table>;

type Shared = HostValues<typeof sharedSettings>;

/** One setting that hosts in AWS have too, for a table of `readVariables`. Its default does not depend on others. */
export const setting =
  <Name extends keyof Shared>(name: Name): Variable<Shared[Name]> =>
  (environment) =>
    readRow(sharedSettings[name], environment, {}) as Shared[Name];

/** A setting of a running host. */
type Row = Setting<unknown> & { readonly variable: string };

/** The value of a setting. @param preceding those before it in the table @throws SettingError that names the variable */
function readRow(
  { variable, parse, ...row }: Row,
  environment: Environment,
  preceding: Readonly<Record<string, unknown>>,
) {
  const text = environment[variable]?.trim();
  // A key that a variable failed to supply must not open the instance.
  if (text === '' && row.blankError) throw new SettingError(`${variable} is empty: ${row.blankError}`);
  return text ? parse(variable, text) : (row.default ?? row.computeDefault?.(preceding));
}
