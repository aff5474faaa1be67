import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';

describe('readSettings', () => {
  it('returns the defaults for unset and blank variables', () => {
    const defaults = readSettings({});
    expect(defaults).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      environment: 'Production',
      corsAllowedOrigins: [],
      dataDir: '.data',
      dataMaxBytes: 1_073_741_824,
      toolsDir: '.data/tools',
      toolsChannel: 'nightly',
      canaryLinks: [],
      toolsUpdateHours: 12,
      playlistLimit: 200,
      search: false,
      trustedProxies: 0,
      youtubeFallbackClient: 'visionos',
    });
    expect(defaults.maxFfmpeg).toBeGreaterThan(0);
    expect(defaults.maxStreams).toBeGreaterThan(0);
    expect(readSettings({ PORT: '  ', SEARCH: '' })).toEqual(defaults);
  });

  it.each([
    ['PORT', '0', { port: 0 }],
    ['LOG_FORMAT', 'JSON', { logFormat: 'json' }],
    ['REELAY_ENVIRONMENT', 'development', { environment: 'Development' }],
    [
      'CORS_ALLOWED_ORIGINS',
      'https://a.example, http://b.example:81',
      { corsAllowedOrigins: ['https://a.example', 'http://b.example:81'] },
    ],
    [
      'SECURITY_CONTACT',
      'mailto:security@a.example, https://a.example/report?x=1, tel:+4915112345',
      { securityContact: ['mailto:security@a.example', 'https://a.example/report?x=1', 'tel:+4915112345'] },
    ],
    ['CORS_ALLOWED_ORIGINS', '*', { corsAllowedOrigins: ['*'] }],
    ['DATA_DIR', '/srv/reelay', { dataDir: '/srv/reelay', toolsDir: '/srv/reelay/tools' }],
    ['DATA_MAX_BYTES', '1099511627776', { dataMaxBytes: 2 ** 40 }],
    ['TOOLS_UPDATE_HOURS', '0', { toolsUpdateHours: 0 }],
    ['TOOLS_UPDATE_HOURS', '480', { toolsUpdateHours: 480 }],
    ['EGRESS_ALLOW', 'media.lan:8000,[::1]:81', { egressAllow: ['media.lan:8000', '[::1]:81'] }],
    [
      'OUTGOING_PROXIES',
      'http://user:pass@proxy.example:3128',
      { outgoingProxies: ['http://user:pass@proxy.example:3128'] },
    ],
    ['SEARCH', 'on', { search: true }],
    ['COOKIES_WRITE_BACK', 'on', { cookiesWriteBack: true }],
    ['PROBED_HOSTS', 'off', { probedHosts: ['off'] }],
    ['YOUTUBE_FALLBACK_CLIENT', 'android_vr', { youtubeFallbackClient: 'android_vr' }],
    ['SEGMENT_PROBES', '2', { segmentProbes: 2 }],
    ['SPONSORBLOCK_URL', 'https://segments.example/base/', { sponsorblockUrl: 'https://segments.example/base' }],
    ['IMPERSONATE', 'a.example=Chrome-131, safari', { impersonate: ['a.example=Chrome-131', 'safari'] }],
    ['BASE_PATH', '/media/reelay', { basePath: '/media/reelay' }],
    ['PROXY_ADDRESSES', '127.0.0.1, fd00::/8', { proxyAddresses: ['127.0.0.1', 'fd00::/8'] }],
    ['PUBLIC_URL', 'https://media.example/', { publicUrl: 'https://media.example' }],
  ])('parses %s=%s', (name, text, expected) => expect(readSettings({ [name]: text })).toMatchObject(expected));

  it.each([
    ['PORT', '70000'],
    ['LOG_FORMAT', 'xml'],
    ['DATA_MAX_BYTES', '1048575'],
    ['REELAY_ENVIRONMENT', 'staging'],
    ['PUBLIC_URL', 'https://media.example/path'],
    // Node's timers do not wait for so long: checks would follow each other without a pause.
    ['TOOLS_UPDATE_HOURS', '600'],
    ['BASE_PATH', 'reelay'],
    ['BASE_PATH', '/reelay/'],
    ['BASE_PATH', '//reelay'],
    ['BASE_PATH', '/api'],
    ['PROXY_ADDRESSES', 'proxy.lan'],
    ['PROXY_ADDRESSES', '10.0.0.0/33'],
    ['USER_HEADER', 'Remote User'],
    ['USER_HEADER', 'Remote-User'],
    ['TOOLS_CHANNEL', 'beta'],
    ['IMPERSONATE', 'chrome,safari'],
    ['SPONSORBLOCK_URL', 'https://segments.example/?a=b'],
    ['PROXY_RULES', 'youtube.com=1'],
    ['EXTRA_CA_FILE', '/nonexistent/ca.pem'],
    ['EXTRA_CA_FILE', '/'],
    ['PLAYLIST_LIMIT', '0'],
    ['YOUTUBE_FALLBACK_CLIENT', 'visionos,web'],
  ])('rejects %s=%s in one line that names the variable', (name, text) => {
    const act = () => readSettings({ [name]: text });
    expect(act).toThrow(SettingError);
    expect(act).toThrow(new RegExp(`^${name} must be [^\n]+$`));
  });

  it('accepts rules for the proxies that are set, and names a rule beyond them', () => {
    const proxies = { OUTGOING_PROXIES: 'http://a.example,http://b.example' };
    const rules = ['youtube.com=2', '*.vimeo.com=1', 'example.org=direct'];
    expect(readSettings({ ...proxies, PROXY_RULES: rules.join(', ') }).proxyRules).toEqual(rules);
    const act = () => readSettings({ ...proxies, PROXY_RULES: 'a.example=1,youtube.com=3' });
    expect(act).toThrow(/^PROXY_RULES must be [^\n]+ entry 2 is beyond its 2 proxies$/);
  });

  it.each(['ftp://user:s3cret@proxy', '10.1.2.3:808080:alice:s3cret', 'http://alice:s3cret%@host:9', 's3cret'])(
    'identifies the invalid proxy %s by its position only',
    (proxy) => {
      const act = () => readSettings({ OUTGOING_PROXIES: `http://good.example,${proxy}` });
      expect(act).toThrow(SettingError);
      expect(act).toThrow(/^OUTGOING_PROXIES must be [^\n]+ entry 2 [^\n]+$/);
      expect(act).not.toThrow(/s3cret|alice/);
    },
  );
});
