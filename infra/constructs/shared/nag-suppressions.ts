import { CfnResource, Validations } from 'aws-cdk-lib';
import { rules } from 'cdk-nag';
import type { IConstruct } from 'constructs';

/** A wildcard in a policy that must be. */
export interface Wildcard {
  /** Matches cdk-nag's finding: `Resource::<Bucket.Arn>/*`, `Action::s3:List*`. */
  readonly finding: RegExp;
  readonly reason: string;
}

/**
 * Acknowledges the wildcards of a policy that are listed, each with its reason; every other stays an error.
 * cdk-nag wants each finding's exact text, which has logical ids in it: so its own rule is asked.
 */
export function suppressWildcards(scope: IConstruct, wildcards: readonly Wildcard[]): void {
  for (const node of scope.node.findAll()) {
    if (!CfnResource.isCfnResource(node)) continue;
    const found = rules.iam.IAMNoWildcardPermissions(node);
    for (const finding of Array.isArray(found) ? found : []) {
      const reason = wildcards
        .filter((wildcard) => wildcard.finding.test(finding))
        .map((wildcard) => wildcard.reason)
        .join('; ');
      if (reason) Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM5[${finding}]`, reason });
    }
  }
}

/** Acknowledges rules of AwsSolutions for a construct and all in it. @param reasons by the rule's short name: `S1` */
export function suppressNag(scope: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
