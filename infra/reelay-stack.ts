import { Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Deployment } from './config/index.ts';
import { useStackLogGroups } from './constructs/shared/index.ts';
import { Reelay } from './reelay.ts';

interface ReelayStackProps extends StackProps {
  readonly deployment: Deployment;
  /** ARN of a firewall in another stack; otherwise this stack creates it and must be in us-east-1. */
  readonly firewall?: string;
}

/** The service of one stage in a stack of its own. */
export class ReelayStack extends Stack {
  constructor(scope: Construct, id: string, { deployment, firewall, ...props }: ReelayStackProps) {
    super(scope, id, { ...props, terminationProtection: deployment.profile.isProtected });
    const { settings, bundleDir } = deployment;
    // An id that CDK leaves out of logical ids: those of deployed stacks have no such part.
    new Reelay(this, 'Default', { ...settings, bundleDir, firewall });
    useStackLogGroups(this, settings.logDays);
  }

  /** The first two zones by index: by name they would need a look-up, and so credentials at synthesis. */
  override get availabilityZones(): string[] {
    return [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())];
  }
}
