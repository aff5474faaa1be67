import { describe, expect, it } from 'vitest';
import { readContextSettings, variablesFor } from '../../../core/config/context.ts';

describe('readContextSettings', () => {
  it('has no value for settings without a constant default', () =>
    expect(Object.values(readContextSettings({}))).not.toContain(undefined));

  it.each([null, undefined, '', ' ', []])('treats %j as unset', (value) =>
    expect(readContextSettings({ egressAllow: value, stage: value })).toEqual(readContextSettings({})),
  );

  it.each([
    [
      ['media.lan:80', 'b.lan:81'],
      ['media.lan:80', 'b.lan:81'],
    ],
    ['media.lan:80,b.lan:81', ['media.lan:80', 'b.lan:81']],
    [[null, 'media.lan:80'], ['media.lan:80']],
  ])('reads the list %j as %j', (value, expected) =>
    expect(readContextSettings({ egressAllow: value }).egressAllow).toEqual(expected),
  );

  it('rejects an object, a setting of one machine, and an unknown name', () => {
    expect(() => readContextSettings({ stage: {} })).toThrow(/^stage must be a plain value, not an object$/);
    expect(() => readContextSettings({ port: 80 })).toThrow(/^port is for the service on one machine$/);
    expect(() => readContextSettings({ outgoingProxies: 'http://proxy.example' })).toThrow(
      /^outgoingProxies would lie open in the template/,
    );
  });

  it.each([
    ['profil', 'profile'],
    ['min-tasks', 'minTasks'],
    ['min_tasks', 'minTasks'],
    ['idleminutes', 'idleMinutes'],
    ['Domain', 'domain'],
    ['xxdomain', 'domain'],
    ['domainxx', 'domain'],
    ['doxxmain', 'domain'],
    ['omain', 'domain'],
    ['doma1in', 'domain'],
    ['alarmMail', 'alarmEmail'],
    ['@', undefined],
    ['aws:cdk:enable-path-metadata', undefined],
    ['cli-telemetry', undefined],
  ])('refuses %s and names the nearest setting, unless it is of CDK: %s', (name, nearest) => {
    const read = () => readContextSettings({ [name]: '3' });
    if (!nearest) expect(read()).toEqual(readContextSettings({}));
    else expect(read).toThrow(`${name} is not a setting of this service; the nearest one is ${nearest}`);
  });
});

describe('variablesFor', () => {
  const settings = readContextSettings({ egressAllow: ['a.lan:1', 'b.lan:2'], search: true, playlistLimit: 50 });

  it('has the settings that a process reads, as its parsers read them', () => {
    const variables = variablesFor('resolver', settings);
    expect(variables).toMatchObject({ EGRESS_ALLOW: 'a.lan:1,b.lan:2', SEARCH: 'on', PLAYLIST_LIMIT: '50' });
    expect(variables).not.toHaveProperty('MAX_STREAMS');
    expect(variablesFor('resolver', { ...settings, search: false }).SEARCH).toBe('off');
  });

  it('omits unset and empty ones', () => {
    const variables = variablesFor('stream-task', readContextSettings({ egressAllow: [] }));
    expect(variables).not.toHaveProperty('EGRESS_ALLOW');
    expect(Object.values(variables)).not.toContain('');
    expect(Object.keys(variables)).not.toContain('undefined');
  });
});
