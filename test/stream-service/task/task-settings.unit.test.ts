import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readTaskSettings } from '../../../stream-service/task/start-task.ts';

describe('readTaskSettings', () => {
  it('requires only a table', () => {
    expect(readTaskSettings({ TABLE_NAME: 'reelay', TOOLS_BUCKET: ' ', HOST_FUNCTION: '' })).toEqual({
      tableName: 'reelay',
      stage: 'local',
      idleMinutes: 0,
      metadataUri: '',
    });
  });

  it('reads the environment', () => {
    const environment = { TABLE_NAME: 't', TOOLS_BUCKET: 'b', STAGE: 's', HOST_FUNCTION: 'f', IDLE_MINUTES: '15' };
    expect(readTaskSettings({ ...environment, ECS_AGENT_URI: 'http://169.254.170.2/api/x' })).toEqual({
      tableName: 't',
      toolsBucket: 'b',
      stage: 's',
      hostFunction: 'f',
      idleMinutes: 15,
      agentUri: 'http://169.254.170.2/api/x',
      metadataUri: '',
    });
  });

  it.each([
    [{}, 'TABLE_NAME must be set'],
    [{ TABLE_NAME: 't', IDLE_MINUTES: 'soon' }, 'IDLE_MINUTES must be a whole number from 0 to 1440, not "soon"'],
    [{ TABLE_NAME: 't', IDLE_MINUTES: '-1' }, 'IDLE_MINUTES must be a whole number from 0 to 1440, not "-1"'],
  ])('rejects %j', (environment, message) => {
    expect(() => readTaskSettings(environment)).toThrow(new SettingError(message));
  });
});
