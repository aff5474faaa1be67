import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import type { Construct } from 'constructs';
import { SdkCall } from './sdk-call.ts';

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
