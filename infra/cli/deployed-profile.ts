import { DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2';

/**
 * The profile that a stack is deployed with, by the tags of its VPC, which every profile has; undefined while the stack is
 * not deployed.
 * @throws Error when AWS gives no clear answer
 */
export async function readDeployedProfile(
  stackName: string,
  region: string,
  awsProfile?: string,
): Promise<string | undefined> {
  const client = new EC2Client({ region, profile: awsProfile });
  try {
    const Filters = [{ Name: 'tag:aws:cloudformation:stack-name', Values: [stackName] }];
    const { Vpcs = [] } = await client.send(new DescribeVpcsCommand({ Filters }));
    return Vpcs.flatMap(({ Tags = [] }) => Tags).find(({ Key }) => Key === 'reelay:profile')?.Value;
  } finally {
    client.destroy();
  }
}

/**
 * Why a deployment without an explicit profile must not continue: the default would replace the deployed stream host.
 * Undefined when the profiles agree, or when nothing is deployed.
 */
export const profileConflict = (deployed: string | undefined, fallback: string): string | undefined =>
  deployed === undefined || deployed === fallback
    ? undefined
    : `The deployed profile is ${deployed}, and none was named: add -c profile=${deployed} to keep it, or -c profile=${fallback} to change it`;
