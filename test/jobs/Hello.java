/** Threads, reflection, a child process. */
public class Hello {
	public static void main(String[] arguments) throws Exception {
		Thread[] threads = new Thread[4];
		long[] sums = new long[4];
		for (int i = 0; i < 4; i++) {
			int n = i;
			threads[i] = new Thread(() -> {
				for (int j = 0; j < 200000; j++)
					sums[n] += Math.floorMod(j * 31, 7 + n);
			});
			threads[i].start();
		}
		for (int i = 0; i < 4; i++) {
			threads[i].join();
			System.out.println(sums[i]);
		}
		System.out.println(Hello.class.getDeclaredMethods().length > 0);
		Process child = new ProcessBuilder("/bin/echo", "child").inheritIO().start();
		System.out.println(child.waitFor());
	}
}
