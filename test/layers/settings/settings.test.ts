import { describe, expect, it } from 'vitest';
import { readSettings, SettingError } from '../../../layers/settings/index.ts';

describe('readSettings', () => {
  it('has a sane default for everything, and what is blank counts as not set', () => {
    const defaults = readSettings({});
    expect(defaults).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      environment: 'Production',
      corsAllowedOrigins: [],
      dataDir: '.data',
      toolsDir: '.data/tools',
      toolsChannel: 'stable',
      toolsUpdateHours: 12,
      playlistLimit: 200,
      search: false,
      trustedProxies: 0,
    });
    expect(defaults.maxFfmpeg).toBeGreaterThan(0);
    expect(defaults.maxStreams).toBeGreaterThan(0);
    expect(readSettings({ PORT: '  ', SEARCH: '' })).toEqual(defaults);
  });

  it.each([
    ['PORT', '0', { port: 0 }],
    ['REELAY_ENVIRONMENT', 'development', { environment: 'Development' }],
    [
      'CORS_ALLOWED_ORIGINS',
      'https://a.example, http://b.example:81',
      { corsAllowedOrigins: ['https://a.example', 'http://b.example:81'] },
    ],
    ['CORS_ALLOWED_ORIGINS', '*', { corsAllowedOrigins: ['*'] }],
    ['DATA_DIR', '/srv/reelay', { dataDir: '/srv/reelay', toolsDir: '/srv/reelay/tools' }],
    ['TOOLS_UPDATE_HOURS', '0', { toolsUpdateHours: 0 }],
    ['EGRESS_ALLOW', 'media.lan:8000,[::1]:81', { egressAllow: ['media.lan:8000', '[::1]:81'] }],
    [
      'OUTGOING_PROXIES',
      'http://user:pass@proxy.example:3128',
      { outgoingProxies: ['http://user:pass@proxy.example:3128'] },
    ],
    ['SEARCH', 'on', { search: true }],
  ])('%s=%s', (name, text, expected) => expect(readSettings({ [name]: text })).toMatchObject(expected));

  it.each([
    ['PORT', '70000'],
    ['PORT', '80a'],
    ['PORT', '-1'],
    ['REELAY_ENVIRONMENT', 'staging'],
    ['CORS_ALLOWED_ORIGINS', 'https://a.example/path'],
    ['CORS_ALLOWED_ORIGINS', 'a.example'],
    ['TOOLS_CHANNEL', 'beta'],
    ['EGRESS_ALLOW', 'media.lan'],
    ['EGRESS_ALLOW', 'media.lan:0'],
    ['OUTGOING_PROXIES', 'socks5://proxy.example'],
    ['PLAYLIST_LIMIT', '0'],
    ['MAX_STREAMS', '1e9'],
    ['SEARCH', 'perhaps'],
  ])('%s=%s is refused in one line that names it', (name, text) => {
    const act = () => readSettings({ [name]: text });
    expect(act).toThrow(SettingError);
    expect(act).toThrow(new RegExp(`^${name} must be [^\n]+$`));
  });

  it('does not repeat a password', () =>
    expect(() => readSettings({ OUTGOING_PROXIES: 'ftp://user:secret@proxy' })).toThrow(/^(?!.*secret)/));
});
