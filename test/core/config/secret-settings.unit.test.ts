import { describe, expect, it, vi } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { loadSecretSettings } from '../../../core/config/settings.ts';

const PROXIES = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:proxies-a1b2c3';
const COOKIES = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-a1b2c3';

const secrets = (values: Readonly<Record<string, string>>) => ({
  fetchSecret: async (arn: string) => values[arn],
  writeCookies: async () => '/cookies.txt',
});

describe('loadSecretSettings', () => {
  it('fetches nothing without a secret', async () => {
    const fetchSecret = vi.fn();
    const environment = { PORT: '1', COOKIES_SECRET: ' ' };
    expect(await loadSecretSettings(environment, { ...secrets({}), fetchSecret })).toEqual(environment);
    expect(fetchSecret).not.toHaveBeenCalled();
  });

  it('accepts proxies one per line and separated by commas', async () => {
    const values = { [PROXIES]: '\nhttp://a:b@one.example:1\nsocks5://two.example:2, three.example:3:c:d\n' };
    const { OUTGOING_PROXIES } = await loadSecretSettings({ OUTGOING_PROXIES_SECRET: PROXIES }, secrets(values));
    expect(OUTGOING_PROXIES).toBe('http://a:b@one.example:1,socks5://two.example:2,http://c:d@three.example:3');
  });

  it.each([
    ['is blank', 'names a secret without text', async () => ' '],
    ['has no text', 'names a secret without text', async () => undefined],
    ['cannot be read', 'cannot be read: TypeError', () => Promise.reject(new TypeError('p4ssword'))],
    ['fails otherwise', 'cannot be read: it failed', () => Promise.reject('p4ssword')],
  ])('names the setting and nothing of the secret when it %s', async (_, reason, fetchSecret) => {
    const load = loadSecretSettings({ COOKIES_SECRET: COOKIES }, { ...secrets({}), fetchSecret });
    const error = await load.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingError);
    expect(String(error)).toBe(`SettingError: COOKIES_SECRET ${reason}`);
  });

  it('keeps the failure of a fetch as the cause', async () => {
    const cause = new Error('refused');
    const options = { ...secrets({}), fetchSecret: () => Promise.reject(cause) };
    await expect(loadSecretSettings({ COOKIES_SECRET: COOKIES }, options)).rejects.toMatchObject({ cause });
  });

  it.each([
    ['COOKIES_SECRET', COOKIES, '[{"name":"sid","value":"p4ssword"}]'],
    ['OUTGOING_PROXIES_SECRET', PROXIES, '10.1.2.3:808080:alice:p4ssword'],
  ])('rejects an invalid value of %s without repeating it', async (name, arn, text) => {
    const writeCookies = vi.fn();
    const load = loadSecretSettings({ [name]: arn }, { ...secrets({ [arn]: text }), writeCookies });
    const error = await load.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingError);
    expect(String(error)).toContain(`${name} must be`);
    expect(String(error)).not.toContain('p4ssword');
    expect(writeCookies).not.toHaveBeenCalled();
  });
});
