import { CfnResource, Validations } from 'aws-cdk-lib';
import { rules } from 'cdk-nag';
import type { IConstruct } from 'constructs';

/** Every wildcard that a policy of the service needs: what matches cdk-nag's finding, and the reason. */
const WILDCARDS: readonly (readonly [finding: RegExp, reason: string])[] = [
  [/^Resource::\*$/, 'The actions support no resource'],
  [/^Resource::<ToolsBucket\w+\.Arn>\/\*$/, 'Release archives in one bucket; their keys contain the version'],
  [/^Resource::<ApiResolver\w+\.Arn>:\*$/, 'Versions of one function; numbers are assigned when published'],
  [/^Resource::.*:layer:[\w-]+-tools:\*$/, 'Versions of one layer; numbers are assigned when published'],
  [/^Resource::.*:task\/<\w+>\/\*$/, 'A task protects itself from scale-in; its id is known only at run time'],
];

/**
 * Suppresses the known wildcard findings of all policies in a scope; any other remains an error. cdk-nag requires the exact text of
 * each finding, which contains logical ids, so its own rule is run to obtain it.
 * @param foreign the reason for all wildcards of a construct that a library provides
 */
export function suppressWildcards(scope: IConstruct, foreign?: string): void {
  for (const node of scope.node.findAll()) {
    if (!CfnResource.isCfnResource(node)) continue;
    const found = rules.iam.IAMNoWildcardPermissions(node);
    for (const finding of Array.isArray(found) ? found : []) {
      const reason = foreign ?? WILDCARDS.find(([known]) => known.test(finding))?.[1];
      if (reason) suppressNag(scope, { [`IAM5[${finding}]`]: reason });
    }
  }
}

/** Suppresses AwsSolutions rules for a construct and its children. @param reasons by the rule's short name: `S1` */
export function suppressNag(scope: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
