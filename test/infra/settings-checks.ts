import { describe, expect, it } from 'vitest';
import { DOMAIN, EXTRACTOR_ARGS, PLUGINS_LAYER, SECRET } from './deployment-settings.ts';
import { PROFILE_NAMES, regionalTemplate, template } from './deployments.ts';
import { distribution } from './distribution.ts';
import { resourcesByRole, type Template, withoutHash } from './permissions.ts';
import { containerOf, functionNamed, onlyResource, propertiesOf, resourcesOfType } from './template.ts';

/** Tests of what single settings change. */
export function checkSettings(): void {
  describe('settings', () => {
    const atOnce = (of: Template) => functionNamed(of, 'get-resource').variables.ENTRIES_AT_ONCE;

    it('entriesAtOnce limits the playlist entries that resolve concurrently', () => {
      expect(PROFILE_NAMES.map((name) => atOnce(template(name)))).toEqual(['4', '8', '24']);
      expect(atOnce(regionalTemplate('public'))).toBe('60');
    });

    it('reserve the executions of the resolver, which bounds its bill', () => {
      const reserved = (of: Template) =>
        resourcesOfType(of, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
          const { ReservedConcurrentExecutions: executions } = properties;
          return executions === undefined ? [] : [[withoutHash(id), executions]];
        });
      expect(reserved(regionalTemplate('public'))).toEqual([['ApiResolver', 90]]);
      expect(reserved(template('public'))).toEqual([]);
    });

    it('alarmEmail receives every alarm and the budget notification', () => {
      const of = regionalTemplate('public');
      expect(onlyResource(of, 'AWS::SNS::Subscription')).toMatchObject({
        Protocol: 'email',
        Endpoint: 'ops@example.com',
      });
      for (const properties of propertiesOf(of, 'AWS::CloudWatch::Alarm'))
        expect(properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^MonitoringAlarmsTopic/) });
      expect(onlyResource(of, 'AWS::Budgets::Budget').NotificationsWithSubscribers).toHaveLength(3);
      expect(resourcesOfType(template('public'), 'AWS::SNS::Topic')).toEqual([]);
    });

    it('architecture applies to every function and the task', () => {
      for (const properties of propertiesOf(regionalTemplate('team'), 'AWS::Lambda::Function')) {
        if (String(properties.Description).startsWith('Reelay')) expect(properties.Architectures).toEqual(['arm64']);
      }
      expect(onlyResource(regionalTemplate('team'), 'AWS::ECS::TaskDefinition')).toMatchObject({
        RuntimePlatform: { CpuArchitecture: 'ARM64' },
      });
    });

    it('pluginsLayerArn and ytDlpExtractorArgs reach what resolves links', () => {
      const of = regionalTemplate('public');
      const { properties, variables } = functionNamed(of, 'get-resource');
      expect(properties.Layers).toEqual([PLUGINS_LAYER]);
      expect(variables).toMatchObject({
        YT_DLP_PLUGINS: '/opt/yt-dlp-plugins',
        YT_DLP_EXTRACTOR_ARGS: EXTRACTOR_ARGS,
      });
      expect(containerOf(of).variables.YT_DLP_EXTRACTOR_ARGS).toBe(EXTRACTOR_ARGS);
      // Lambda asks for it when a function with the layer gets another release of yt-dlp.
      const layers = Object.values(resourcesByRole(of, 'lambda:GetLayerVersion'));
      expect(layers.filter((of) => of.includes(PLUGINS_LAYER))).toHaveLength(2);
    });

    it('cookiesSecret is readable by the resolver and the task, and no other secret is', () => {
      const secrets = resourcesByRole(regionalTemplate('public'), 'secretsmanager:GetSecretValue');
      expect(secrets).toEqual({ ApiResolverRole: [SECRET], TaskTaskRole: [SECRET] });
      expect(resourcesByRole(template('public'), 'secretsmanager:GetSecretValue')).toEqual({});
      expect(functionNamed(regionalTemplate('public'), 'get-resource').variables.COOKIES_SECRET).toBe(SECRET);
    });

    it('domain is an alias of the distribution, with TLS 1.2 or later', () => {
      expect(distribution(regionalTemplate('team'))).toMatchObject({
        Aliases: ['media.example.com'],
        ViewerCertificate: { AcmCertificateArn: DOMAIN.certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
      });
      const { Outputs } = regionalTemplate('team') as Template & { Outputs: Record<string, { Value: unknown }> };
      expect(Outputs.BaseUrl?.Value).toBe('https://media.example.com');
      const records = resourcesOfType(regionalTemplate('team'), 'AWS::Route53::RecordSet');
      const record = { Name: 'media.example.com.', HostedZoneId: 'Z0123456789ABC', AliasTarget: expect.anything() };
      expect(records.map(({ properties }) => properties)).toEqual([
        { ...record, Type: 'A' },
        { ...record, Type: 'AAAA' },
      ]);
    });
  });
}
