import { CfnResource, Validations } from 'aws-cdk-lib';
import { rules } from 'cdk-nag';
import type { IConstruct } from 'constructs';

/** A wildcard that a policy needs. */
export interface Wildcard {
  /** Matches cdk-nag's finding: `Resource::<Bucket.Arn>/*`, `Action::s3:List*`. */
  readonly finding: RegExp;
  readonly reason: string;
}

/**
 * Suppresses the listed wildcard findings of all policies in a scope, each with its reason; any other remains an error.
 * cdk-nag requires the exact text of each finding, which contains logical ids, so its own rule is run to obtain it.
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

/** Suppresses AwsSolutions rules for a construct and its children. @param reasons by the rule's short name: `S1` */
export function suppressNag(scope: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
