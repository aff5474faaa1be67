import { describe, expect, it } from 'vitest';
import { readToolsEnvironment } from '../../../lambdas/tools-update/create-tools-update.ts';

const environment = {
  TABLE_NAME: 'table',
  TOOLS_BUCKET: 'bucket',
  LAYER_NAME: 'layer',
  CANARY_FUNCTION: 'canary',
  STAGE: 'prod',
  ARCHITECTURE: 'arm64',
  RESOLVER_FUNCTION: 'resolver',
};

describe('readToolsEnvironment', () => {
  it.each([
    ['x86_64', 'yt-dlp_linux.zip'],
    ['arm64', 'yt-dlp_linux_aarch64.zip'],
  ])('selects the release asset for %s', (ARCHITECTURE, asset) => {
    expect(readToolsEnvironment({ ...environment, ARCHITECTURE }).asset).toBe(asset);
  });

  it('has a pinned release only when one is set', () => {
    expect(readToolsEnvironment({ ...environment, TOOLS_VERSION: ' ' }).pinned).toBeUndefined();
    expect(readToolsEnvironment({ ...environment, TOOLS_VERSION: '2026.11.20' }).pinned).toBe('2026.11.20');
  });

  it.each(Object.keys(environment))('throws without %s', (name) => {
    expect(() => readToolsEnvironment({ ...environment, [name]: ' ' })).toThrow(new RegExp(`^${name} must be set$`));
  });

  it.each([
    ['ARCHITECTURE', 's390x'],
    ['TOOLS_CHANNEL', 'edge'],
    ['TOOLS_VERSION', '../latest'],
  ])('throws for %s=%s', (name, value) => {
    expect(() => readToolsEnvironment({ ...environment, [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });
});
