package sample;

/** Starts the web application once with each setting, and fails with the failure of the last. */
record FailingStarts() {
    static void main(String[] settings) {
        RuntimeException last = null;
        for (String setting : settings) {
            System.out.println("Starting with " + setting);
            try {
                WebSample.main(new String[] { setting });
            } catch (RuntimeException failure) {
                last = failure;
            }
        }
        throw last;
    }
}
