import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, type AwsSdkCall, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { createLogGroup, createProviderRole, suppressWildcards } from './conventions.ts';

interface SdkCallProps {
  /** Made when the resource is created, and again when the call changes. */
  readonly call: AwsSdkCall;
  readonly permissions: PolicyStatement[];
  readonly logDays: number;
}

/** One AWS SDK call at deployment, by the function that CDK shares among all of them, whose role may make each from its creation. */
export class SdkCall extends AwsCustomResource {
  constructor(scope: Construct, id: string, { call, permissions, logDays }: SdkCallProps) {
    const shared = sharedProvider(scope, logDays);
    for (const statement of permissions) shared.role.addToPolicy(statement);
    super(scope, id, { ...shared, onUpdate: call, installLatestAwsSdk: false });
    suppressWildcards(shared.role);
  }
}

/** Role and log group of the shared function, created once per stack. */
function sharedProvider(scope: Construct, logDays: number): Readonly<{ role: Role; logGroup: LogGroup }> {
  const stack = Stack.of(scope);
  const existing = stack.node.tryFindChild('SdkCalls');
  if (existing) {
    const { node } = existing;
    return { role: node.findChild('Role') as Role, logGroup: node.findChild('Log') as LogGroup };
  }
  const shared = new Construct(stack, 'SdkCalls');
  const logGroup = createLogGroup(shared, 'Log', logDays);
  return { logGroup, role: createProviderRole(shared, 'Role', logGroup) };
}

/** Roles of AWS services, which each creates at its first use in an account, by service name. */
const ROLE_NAMES = {
  'ecs.amazonaws.com': 'AWSServiceRoleForECS',
  'elasticloadbalancing.amazonaws.com': 'AWSServiceRoleForElasticLoadBalancing',
  'ecs.application-autoscaling.amazonaws.com': 'AWSServiceRoleForApplicationAutoScaling_ECSService',
  'vpcorigin.cloudfront.amazonaws.com': 'AWSServiceRoleForCloudFrontVPCOrigin',
} as const;

export interface ServiceLinkedRoleProps {
  readonly service: keyof typeof ROLE_NAMES;
  readonly logDays: number;
}

/**
 * The role of an AWS service in this account, created where it is missing. A service that creates its role at the first use
 * may fail that use, because the role takes seconds to reach it. `AWS::IAM::ServiceLinkedRole` would fail wherever the role
 * exists. Never deleted: other stacks of the account use it.
 */
export class ServiceLinkedRole extends SdkCall {
  constructor(scope: Construct, id: string, { service, logDays }: ServiceLinkedRoleProps) {
    super(scope, id, {
      call: {
        service: 'IAM',
        action: 'createServiceLinkedRole',
        parameters: { AWSServiceName: service },
        // The error of a role that exists.
        ignoreErrorCodesMatching: '^InvalidInput',
        physicalResourceId: PhysicalResourceId.of(service),
      },
      permissions: [
        new PolicyStatement({
          actions: ['iam:CreateServiceLinkedRole'],
          resources: [
            Stack.of(scope).formatArn({
              service: 'iam',
              region: '',
              resource: `role/aws-service-role/${service}/${ROLE_NAMES[service]}`,
            }),
          ],
          conditions: { StringEquals: { 'iam:AWSServiceName': service } },
        }),
      ],
      logDays,
    });
  }
}
